// SPDX-License-Identifier: Apache-2.0
// Capture of streams into graphs: what is queued is recorded, and events carry the capture to other streams.
#include <algorithm>
#include <set>

#include "workloads/backend/cuda/emulated/runtime/call.hpp"
#include "workloads/backend/cuda/emulated/runtime/graph.hpp"

namespace gpusizer::emulated {
namespace {

void end_of_capture(Capture& capture) {
  HostThread& thread = host_thread();
  if (capture.mode == cudaStreamCaptureModeThreadLocal) thread.captures = std::max(0, thread.captures - 1);
  if (capture.mode == cudaStreamCaptureModeGlobal) --machine().global_captures;
  const auto streams = capture.streams;
  for (const cudaStream_t stream : streams) {
    stream->capture = nullptr;
    stream->capture_tail.clear();
  }
}

// All nodes that come before these, and these.
std::set<size_t> with_ancestors(const Capture& capture, const std::vector<size_t>& tail) {
  std::set<size_t> found;
  std::vector<size_t> open = tail;
  while (!open.empty()) {
    const size_t node = open.back();
    open.pop_back();
    if (!found.insert(node).second) continue;
    const auto& after = capture.nodes[node].after;
    open.insert(open.end(), after.begin(), after.end());
  }
  return found;
}

bool all_joined(const Capture& capture) {
  const std::set<size_t> joined = with_ancestors(capture, capture.streams.front()->capture_tail);
  return std::all_of(capture.streams.begin(), capture.streams.end(), [&](cudaStream_t stream) {
    const auto& tail = stream->capture_tail;
    return std::all_of(tail.begin(), tail.end(), [&](size_t node) { return joined.contains(node); });
  });
}

void join_tail(cudaStream_t stream, const std::vector<size_t>& tail) {
  for (const size_t node : tail)
    if (std::find(stream->capture_tail.begin(), stream->capture_tail.end(), node) == stream->capture_tail.end())
      stream->capture_tail.push_back(node);
}

cudaError_t begin(cudaStream_t stream, cudaStreamCaptureMode mode) {
  if (!stream || resolve(stream)->legacy) return cudaErrorStreamCaptureUnsupported;
  if (stream->capture) return cudaErrorIllegalState;
  stream->capture = std::make_shared<Capture>();
  stream->capture->mode = mode;
  stream->capture->streams = {stream};
  stream->capture->thread = std::this_thread::get_id();
  stream->capture_tail.clear();
  if (mode == cudaStreamCaptureModeThreadLocal) ++host_thread().captures;
  if (mode == cudaStreamCaptureModeGlobal) ++machine().global_captures;
  return cudaSuccess;
}

cudaError_t end(cudaStream_t stream, cudaGraph_t* graph) {
  if (graph) *graph = nullptr;
  if (!stream || !stream->capture) return cudaErrorIllegalState;
  const std::shared_ptr<Capture> capture = stream->capture;
  if (capture->streams.front() != stream) return cudaErrorStreamCaptureUnmatched;
  const cudaError_t status = capture->broken != cudaSuccess ? capture->broken
                             : all_joined(*capture)         ? cudaSuccess
                                                            : cudaErrorStreamCaptureUnjoined;
  end_of_capture(*capture);
  if (status != cudaSuccess || !graph) return status;
  *graph = new CUgraph_st{capture->nodes};
  return cudaSuccess;
}

}  // namespace

void record_in_capture(cudaStream_t stream, const TaskMaker& make) {
  auto& nodes = stream->capture->nodes;
  nodes.push_back({make, stream->capture_tail, stream->device});
  stream->capture_tail = {nodes.size() - 1};
}

void record_event_in_capture(cudaStream_t stream, cudaEvent_t event) {
  event->capture = stream->capture;
  event->capture_tail = stream->capture_tail;
  event->captured = true;
}

cudaError_t wait_event_in_capture(cudaStream_t stream, cudaEvent_t event) {
  if (!event->captured) {
    if (event->recorded == 0) return cudaSuccess;  // never recorded: nothing to wait for
    stream->capture->broken = cudaErrorStreamCaptureInvalidated;
    return cudaErrorStreamCaptureIsolation;
  }
  const std::shared_ptr<Capture> capture = event->capture.lock();
  if (!capture || capture->streams.empty() || capture->streams.front()->capture != capture)
    return cudaErrorCapturedEvent;  // that capture is over
  if (stream->capture && stream->capture != capture) return cudaErrorStreamCaptureMerge;
  if (stream->legacy) return cudaErrorStreamCaptureImplicit;
  if (!stream->capture) {
    stream->capture = capture;
    capture->streams.push_back(stream);
  }
  join_tail(stream, event->capture_tail);
  return cudaSuccess;
}

void break_captures_of_thread(cudaError_t status) {
  for (const cudaStream_t stream : machine().streams) {
    if (!stream->capture || stream->capture->broken != cudaSuccess) continue;
    const bool own = stream->capture->thread == std::this_thread::get_id();
    if (own || stream->capture->mode == cudaStreamCaptureModeGlobal) stream->capture->broken = status;
  }
}

void leave_captures(cudaStream_t stream) {
  if (!stream->capture) return;
  stream->capture->broken = cudaErrorStreamCaptureInvalidated;
  if (stream->capture->streams.front() == stream) {
    const std::shared_ptr<Capture> capture = stream->capture;
    return end_of_capture(*capture);
  }
  std::erase(stream->capture->streams, stream);
  stream->capture = nullptr;
}

}  // namespace gpusizer::emulated

using namespace gpusizer::emulated;

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return runtime_call("cudaStreamBeginCapture", [&](Lock&) { return begin(stream, mode); });
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return runtime_call("cudaStreamEndCapture", [&](Lock&) { return end(stream, graph); });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return runtime_call("cudaStreamIsCapturing", [&](Lock&) {
    const auto& capture = resolve(stream)->capture;
    *status = !capture                         ? cudaStreamCaptureStatusNone
              : capture->broken != cudaSuccess ? cudaStreamCaptureStatusInvalidated
                                               : cudaStreamCaptureStatusActive;
    return cudaSuccess;
  });
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return runtime_call("cudaThreadExchangeStreamCaptureMode", [&](Lock&) {
    HostThread& thread = host_thread();
    const bool was_relaxed = thread.relaxed;
    thread.relaxed = *mode == cudaStreamCaptureModeRelaxed;
    *mode = was_relaxed ? cudaStreamCaptureModeRelaxed : cudaStreamCaptureModeThreadLocal;
    return cudaSuccess;
  });
}

}  // extern "C"
