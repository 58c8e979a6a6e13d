// SPDX-License-Identifier: Apache-2.0
// Events: marks in a stream that others wait for, and the time between two of them.
#include <chrono>

#include "workloads/backend/cuda/emulated/runtime/call.hpp"
#include "workloads/backend/cuda/emulated/runtime/graph.hpp"

namespace gpusizer::emulated {
namespace {

double now_milliseconds() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void drop_reference(cudaEvent_t event) {
  if (--event->references == 0 && event->destroyed) delete event;
}

Task record_task(cudaEvent_t event, uint64_t number) {
  ++event->references;
  Task task{"the record of an event"};
  task.locked = task.always = true;
  task.run = [event, number] {
    event->reached = std::max(event->reached, number);
    event->milliseconds = now_milliseconds();
    drop_reference(event);
  };
  return task;
}

Task wait_task(cudaEvent_t event, uint64_t number) {
  ++event->references;
  Task task{"the wait for an event"};
  task.locked = task.always = true;
  task.ready = [event, number] { return event->reached >= number; };
  task.run = [event] { drop_reference(event); };
  return task;
}

cudaError_t record(cudaEvent_t event, cudaStream_t stream, Lock& lock) {
  stream = resolve(stream);
  if (!event || event->device != stream->device) return cudaErrorInvalidResourceHandle;
  if (stream->capture) {
    record_event_in_capture(stream, event);
    return cudaSuccess;
  }
  event->captured = false;
  const uint64_t number = ++event->recorded;
  return put(
      stream, [event, number] { return record_task(event, number); }, lock);
}

cudaError_t wait(cudaStream_t stream, cudaEvent_t event, Lock& lock) {
  if (!event) return cudaErrorInvalidResourceHandle;
  stream = resolve(stream);
  if (stream->capture || event->captured) return wait_event_in_capture(stream, event);
  if (event->reached >= event->recorded) return cudaSuccess;
  return put(
      stream, [event, number = event->recorded] { return wait_task(event, number); }, lock);
}

cudaError_t elapsed(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  if (!milliseconds || !start || !end) return cudaErrorInvalidValue;
  if (!start->timed || !end->timed || !start->recorded || !end->recorded) return cudaErrorInvalidResourceHandle;
  if (start->captured || end->captured) return cudaErrorCapturedEvent;
  if (start->reached < start->recorded || end->reached < end->recorded) return cudaErrorNotReady;
  *milliseconds = static_cast<float>(end->milliseconds - start->milliseconds);
  return cudaSuccess;
}

}  // namespace
}  // namespace gpusizer::emulated

using namespace gpusizer::emulated;

extern "C" {

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
  return runtime_call("cudaEventCreate", [&](Lock&) {
    if (!event) return cudaErrorInvalidValue;
    *event = new CUevent_st;
    (*event)->device = host_thread().device;
    (*event)->timed = !(flags & cudaEventDisableTiming);
    return cudaSuccess;
  });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }

// Work that refers to the event goes on.
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return cleanup_call("cudaEventDestroy", WhileCapturing::allowed, [&](Lock&) {
    if (!event) return cudaErrorInvalidResourceHandle;
    event->destroyed = true;
    if (event->references == 0) delete event;
    return cudaSuccess;
  });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return runtime_call("cudaEventRecord", [&](Lock& lock) { return record(event, stream, lock); });
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int) {
  return cudaEventRecord(event, stream);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int) {
  return runtime_call("cudaStreamWaitEvent", [&](Lock& lock) { return wait(stream, event, lock); });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return runtime_call("cudaEventSynchronize", WhileCapturing::forbidden, [&](Lock& lock) {
    if (!event) return cudaErrorInvalidResourceHandle;
    if (event->captured) return cudaErrorCapturedEvent;
    return drain(lock, nullptr, [event, target = event->recorded] { return event->reached >= target; });
  });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return runtime_call("cudaEventQuery", WhileCapturing::forbidden, [&](Lock& lock) -> cudaError_t {
    if (!event) return cudaErrorInvalidResourceHandle;
    if (event->captured) return cudaErrorCapturedEvent;
    if (event->reached < event->recorded) run_some_task(nullptr, lock);
    const cudaError_t broken = machine().broken[static_cast<size_t>(event->device)];
    if (broken != cudaSuccess) return broken;
    return event->reached < event->recorded ? cudaErrorNotReady : cudaSuccess;
  });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return runtime_call("cudaEventElapsedTime", [&](Lock&) { return elapsed(milliseconds, start, end); });
}

}  // extern "C"
