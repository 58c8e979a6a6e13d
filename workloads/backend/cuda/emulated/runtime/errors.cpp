// SPDX-License-Identifier: Apache-2.0
// The runtime's errors: their names, the last one of each thread, those that broke a device, and those nobody asked
// about.
#include <algorithm>
#include <array>
#include <cstdio>
#include <string>

#include "workloads/backend/cuda/emulated/runtime/call.hpp"
#include "workloads/backend/cuda/emulated/runtime/graph.hpp"

namespace gpusizer::emulated {
namespace {

struct ErrorText {
  cudaError_t status;
  const char* name;
  const char* text;
};

constexpr std::array<ErrorText, 33> error_texts = {{
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInitializationError, "cudaErrorInitializationError", "initialization error"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver", "CUDA driver version is insufficient"},
    {cudaErrorDevicesUnavailable, "cudaErrorDevicesUnavailable", "CUDA-capable device(s) is/are busy or unavailable"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorECCUncorrectable, "cudaErrorECCUncorrectable", "uncorrectable ECC error encountered"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorIllegalState, "cudaErrorIllegalState", "the operation cannot be performed in the present state"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {cudaErrorLaunchOutOfResources, "cudaErrorLaunchOutOfResources", "too many resources requested for launch"},
    {cudaErrorLaunchTimeout, "cudaErrorLaunchTimeout", "the launch timed out and was terminated"},
    {cudaErrorPeerAccessAlreadyEnabled, "cudaErrorPeerAccessAlreadyEnabled", "peer access is already enabled"},
    {cudaErrorPeerAccessNotEnabled, "cudaErrorPeerAccessNotEnabled", "peer access has not been enabled"},
    {cudaErrorHostMemoryAlreadyRegistered, "cudaErrorHostMemoryAlreadyRegistered", "already pinned"},
    {cudaErrorHostMemoryNotRegistered, "cudaErrorHostMemoryNotRegistered", "memory was not pinned by this call"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorNotPermitted, "cudaErrorNotPermitted", "operation not permitted"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
    {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported", "not permitted while capturing"},
    {cudaErrorStreamCaptureInvalidated, "cudaErrorStreamCaptureInvalidated", "the capture was invalidated earlier"},
    {cudaErrorStreamCaptureMerge, "cudaErrorStreamCaptureMerge", "it would merge two captures"},
    {cudaErrorStreamCaptureUnmatched, "cudaErrorStreamCaptureUnmatched", "the capture began in another stream"},
    {cudaErrorStreamCaptureUnjoined, "cudaErrorStreamCaptureUnjoined", "a stream of the capture was not joined"},
    {cudaErrorStreamCaptureIsolation, "cudaErrorStreamCaptureIsolation", "it depends on work outside the capture"},
    {cudaErrorStreamCaptureImplicit, "cudaErrorStreamCaptureImplicit", "it depends on the legacy stream"},
    {cudaErrorCapturedEvent, "cudaErrorCapturedEvent", "the event was last recorded in a capture"},
    {cudaErrorGraphExecUpdateFailure, "cudaErrorGraphExecUpdateFailure", "the graph was changed too much"},
    {cudaErrorUnknown, "cudaErrorUnknown", "unknown error"},
}};

const ErrorText& text_of(cudaError_t status) {
  const auto* found =
      std::find_if(error_texts.begin(), error_texts.end(), [&](const ErrorText& t) { return t.status == status; });
  return found == error_texts.end() ? error_texts.back() : *found;
}

}  // namespace

cudaError_t refusal(const char* function, WhileCapturing rule) {
  Machine& m = machine();
  const HostThread& thread = host_thread();
  ++m.calls[function];
  if (const auto found = m.planted.find(function); found != m.planted.end() && --found->second.calls_left <= 0) {
    const int status = found->second.status;
    m.planted.erase(found);
    return static_cast<cudaError_t>(status);
  }
  if (rule == WhileCapturing::forbidden && !thread.relaxed && (thread.captures > 0 || m.global_captures > 0)) {
    break_captures_of_thread(cudaErrorStreamCaptureInvalidated);
    return cudaErrorStreamCaptureUnsupported;
  }
  if (m.settings.devices == 0) return cudaErrorNoDevice;
  return m.broken[static_cast<size_t>(thread.device)];
}

cudaError_t returned(const char* function, cudaError_t status) {
  if (status == cudaSuccess || status == cudaErrorNotReady) return status;
  host_thread().last_error = status;
  remember_unasked(function, text_of(status).name);
  return status;
}

void remember_unasked(const std::string& function, const std::string& status_name) {
  constexpr size_t most = 100;  // a program that asks again and again is no news
  if (machine().unasked.size() < most) machine().unasked.emplace_back(function, status_name);
}

void set_broken(int device, cudaError_t status, const std::string& message) {
  Machine& m = machine();
  cudaError_t& broken = m.broken[static_cast<size_t>(device)];
  if (broken != cudaSuccess) return;
  broken = status;
  m.fault += (m.fault.empty() ? "" : "; ") + message;
  std::fprintf(stderr, "[emulated device %d] %s\n", device, message.c_str());
  m.changed.notify_all();
}

void report_fault(int device, cudaError_t status, const std::string& message) {
  const Lock lock(machine().mutex);
  set_broken(device, status, message);
}

}  // namespace gpusizer::emulated

using namespace gpusizer::emulated;

namespace {

cudaError_t take_last_error(bool forget) {
  const Lock lock(machine().mutex);
  HostThread& thread = host_thread();
  const cudaError_t status = thread.last_error;
  std::erase_if(machine().unasked, [&](const auto& error) { return error.second == text_of(status).name; });
  if (forget) thread.last_error = machine().broken[static_cast<size_t>(thread.device)];
  return status;
}

const char* asked(cudaError_t status, bool name) {
  const ErrorText& text = text_of(status);
  note_asked(text.name);
  return name ? text.name : text.text;
}

}  // namespace

extern "C" {

cudaError_t cudaGetLastError(void) { return take_last_error(true); }
cudaError_t cudaPeekAtLastError(void) { return take_last_error(false); }
const char* cudaGetErrorName(cudaError_t error) { return asked(error, true); }
const char* cudaGetErrorString(cudaError_t error) { return asked(error, false); }

}  // extern "C"
