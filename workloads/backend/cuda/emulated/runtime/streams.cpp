// SPDX-License-Identifier: Apache-2.0
// Streams: queues of tasks, the legacy stream's rules, and waiting for them.
#include <algorithm>
#include <utility>

#include "workloads/backend/cuda/emulated/runtime/call.hpp"
#include "workloads/backend/cuda/emulated/runtime/graph.hpp"

namespace gpusizer::emulated {
namespace {

cudaStream_t new_stream(int device) {
  auto* stream = new CUstream_st;
  stream->id = ++machine().ids;
  stream->device = device;
  machine().streams.push_back(stream);
  return stream;
}

// Work of the legacy stream waits for all blocking streams of its device, and theirs for it.
bool wait_for_each_other(cudaStream_t a, cudaStream_t b) {
  return a != b && a->device == b->device && ((a->legacy && !b->nonblocking) || (b->legacy && !a->nonblocking));
}

bool has_finished(uint64_t id, uint64_t count) {
  for (const cudaStream_t stream : machine().streams)
    if (stream->id == id) return stream->finished >= count;
  return true;  // destroyed, and so drained
}

void wait_for_legacy_rules(cudaStream_t stream, Task& task) {
  std::vector<std::pair<uint64_t, uint64_t>> before;
  for (const cudaStream_t other : machine().streams)
    if (wait_for_each_other(stream, other) && other->submitted > other->finished)
      before.emplace_back(other->id, other->submitted);
  if (before.empty()) return;
  task.ready = [before, ready = task.ready] {
    return std::all_of(before.begin(), before.end(), [](const auto& w) { return has_finished(w.first, w.second); }) &&
           (!ready || ready());
  };
}

bool touches_capture(cudaStream_t legacy) {
  return std::any_of(machine().streams.begin(), machine().streams.end(),
                     [&](cudaStream_t other) { return other->capture && wait_for_each_other(legacy, other); });
}

bool is_known(cudaStream_t stream) {
  const auto& all = machine().streams;
  return std::find(all.begin(), all.end(), stream) != all.end() && !stream->destroyed;
}

cudaError_t synchronize(cudaStream_t stream, Lock& lock) {
  stream = resolve(stream);
  if (!is_known(stream)) return cudaErrorInvalidResourceHandle;
  if (stream->capture) return cudaErrorStreamCaptureUnsupported;
  const uint64_t target = stream->submitted;
  return drain(lock, stream, [&] { return stream->finished >= target; });
}

}  // namespace

cudaStream_t resolve(cudaStream_t stream) {
  if (stream && stream != cudaStreamLegacy && stream != cudaStreamPerThread) return stream;
  const int device = host_thread().device;
  cudaStream_t& legacy = machine().legacy[static_cast<size_t>(device)];
  if (!legacy) {
    legacy = new_stream(device);
    legacy->legacy = true;
  }
  return legacy;
}

cudaError_t put(cudaStream_t stream, const TaskMaker& make, Lock& lock) {
  stream = resolve(stream);
  if (!is_known(stream)) return cudaErrorInvalidResourceHandle;
  if (stream->capture) {
    if (stream->capture->broken != cudaSuccess) return cudaErrorStreamCaptureInvalidated;
    record_in_capture(stream, make);
    return cudaSuccess;
  }
  if (stream->legacy && touches_capture(stream)) {
    break_captures_of_thread(cudaErrorStreamCaptureInvalidated);
    return cudaErrorStreamCaptureImplicit;
  }
  Task task = make();
  wait_for_legacy_rules(stream, task);
  stream->queue.push_back(std::move(task));
  ++stream->submitted;
  machine().changed.notify_all();
  if (machine().settings.schedule == Schedule::eager)
    while (!stream->queue.empty() && !stream->busy && run_some_task(stream, lock)) continue;
  return cudaSuccess;
}

cudaError_t enqueue(const char* function, cudaStream_t stream, const TaskMaker& make) {
  Lock lock(machine().mutex);
  const cudaError_t broken = machine().broken[static_cast<size_t>(resolve(stream)->device)];
  return returned(function, broken != cudaSuccess ? broken : put(stream, make, lock));
}

int device_of(cudaStream_t stream) {
  const Lock lock(machine().mutex);
  return resolve(stream)->device;
}

cudaStream_t resolved_stream(cudaStream_t stream) {
  const Lock lock(machine().mutex);
  return resolve(stream);
}

bool device_idle(int device) {
  return std::all_of(machine().streams.begin(), machine().streams.end(), [&](cudaStream_t stream) {
    return stream->device != device || stream->finished >= stream->submitted;
  });
}

}  // namespace gpusizer::emulated

using namespace gpusizer::emulated;

extern "C" {

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int priority) {
  return runtime_call("cudaStreamCreate", [&](Lock&) {
    if (!stream) return cudaErrorInvalidValue;
    *stream = new_stream(host_thread().device);
    (*stream)->nonblocking = (flags & cudaStreamNonBlocking) != 0;
    (*stream)->priority = priority;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) { return cudaStreamCreateWithPriority(stream, 0, 0); }

// Returns at once; what is queued is still done, unless the device is broken.
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return cleanup_call("cudaStreamDestroy", WhileCapturing::allowed, [&](Lock&) -> cudaError_t {
    if (!stream || !is_known(stream) || stream->legacy) return cudaErrorInvalidResourceHandle;
    leave_captures(stream);
    const cudaError_t broken = machine().broken[static_cast<size_t>(stream->device)];
    if (broken != cudaSuccess) abandon_work(stream);
    stream->destroyed = true;
    delete_if_done(stream);
    return broken;
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return runtime_call("cudaStreamSynchronize", WhileCapturing::forbidden,
                      [&](Lock& lock) { return synchronize(stream, lock); });
}

// Asking lets one task run, so that a program that polls comes to an end in every schedule.
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return runtime_call("cudaStreamQuery", WhileCapturing::forbidden, [&](Lock& lock) -> cudaError_t {
    const cudaStream_t asked = resolve(stream);
    if (!is_known(asked)) return cudaErrorInvalidResourceHandle;
    run_some_task(asked, lock);
    const cudaError_t broken = machine().broken[static_cast<size_t>(asked->device)];
    if (broken != cudaSuccess) return broken;
    return asked->finished < asked->submitted ? cudaErrorNotReady : cudaSuccess;
  });
}

cudaError_t cudaDeviceSynchronize(void) {
  return runtime_call("cudaDeviceSynchronize", WhileCapturing::forbidden, [&](Lock& lock) {
    return drain(lock, nullptr, [device = host_thread().device] { return device_idle(device); });
  });
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int* flags) {
  return runtime_call("cudaStreamGetFlags", [&](Lock&) {
    *flags = resolve(stream)->nonblocking ? cudaStreamNonBlocking : cudaStreamDefault;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return runtime_call("cudaStreamGetPriority", [&](Lock&) {
    *priority = resolve(stream)->priority;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  return runtime_call("cudaStreamGetDevice", [&](Lock&) {
    *device = resolve(stream)->device;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least) *least = 0;
  if (greatest) *greatest = -5;
  return cudaSuccess;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return runtime_call("cudaLaunchHostFunc", [&](Lock& lock) {
    return put(
        stream,
        [function, data] {
          return Task{"a host function", {}, [function, data] { function(data); }};
        },
        lock);
  });
}

}  // extern "C"
