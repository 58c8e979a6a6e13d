// SPDX-License-Identifier: Apache-2.0
// Copies and fills. Pinned memory is read when the stream comes to it; pageable memory is staged, as the driver does.
#include <cstring>
#include <vector>

#include "workloads/backend/cuda/emulated/runtime/call.hpp"

namespace gpusizer::emulated {
namespace {

bool reaches_past(const void* at, size_t bytes) {
  uintptr_t begin = 0;
  const Allocation* allocation = find_allocation(at, &begin);
  return allocation && reinterpret_cast<uintptr_t>(at) + bytes > begin + allocation->bytes;
}

bool is_device(const void* at) {
  const Allocation* allocation = find_allocation(at);
  return allocation && !allocation->pinned;
}

// What the given kind says must be true of the pointers.
bool fits_kind(const void* to, const void* from, cudaMemcpyKind kind) {
  if (kind == cudaMemcpyDefault) return true;
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  return is_device(to) == to_device && is_device(from) == from_device;
}

Task copy_task(void* to, const void* from, size_t bytes) {
  return {"a copy", {}, [to, from, bytes] { std::memcpy(to, from, bytes); }};
}

Task staged_copy_task(void* to, const std::vector<char>& from) {
  return {"a copy", {}, [to, from] { std::memcpy(to, from.data(), from.size()); }};
}

cudaError_t copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream, bool wait,
                 Lock& lock) {
  if (!bytes) return cudaSuccess;
  if (!to || !from || reaches_past(to, bytes) || reaches_past(from, bytes) || !fits_kind(to, from, kind))
    return cudaErrorInvalidValue;
  stream = resolve(stream);
  const bool pageable_source = !find_allocation(from), pageable_target = !find_allocation(to);
  if (stream->capture && (pageable_source || pageable_target)) return cudaErrorStreamCaptureUnsupported;
  cudaError_t status = cudaSuccess;
  if (pageable_source) {
    const auto* begin = static_cast<const char*>(from);
    const std::vector<char> staged(begin, begin + bytes);
    status = put(
        stream, [to, &staged] { return staged_copy_task(to, staged); }, lock);
  } else {
    status = put(
        stream, [=] { return copy_task(to, from, bytes); }, lock);
  }
  if (status != cudaSuccess || stream->capture || !(wait || pageable_target)) return status;
  const uint64_t target = stream->submitted;
  return drain(lock, stream, [&] { return stream->finished >= target; });
}

cudaError_t fill(void* at, int value, size_t bytes, cudaStream_t stream, Lock& lock) {
  if (!bytes) return cudaSuccess;
  if (!find_allocation(at) || reaches_past(at, bytes)) return cudaErrorInvalidValue;
  return put(
      stream,
      [=] {
        return Task{"a fill", {}, [=] { std::memset(at, value, bytes); }};
      },
      lock);
}

}  // namespace
}  // namespace gpusizer::emulated

using namespace gpusizer::emulated;

extern "C" {

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return runtime_call("cudaMemcpyAsync", [&](Lock& lock) { return copy(to, from, bytes, kind, stream, false, lock); });
}

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return runtime_call("cudaMemcpy", WhileCapturing::forbidden,
                      [&](Lock& lock) { return copy(to, from, bytes, kind, nullptr, true, lock); });
}

cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, size_t bytes, cudaStream_t stream) {
  return runtime_call("cudaMemcpyPeerAsync",
                      [&](Lock& lock) { return copy(to, from, bytes, cudaMemcpyDeviceToDevice, stream, false, lock); });
}

cudaError_t cudaMemcpyPeer(void* to, int, const void* from, int, size_t bytes) {
  return runtime_call("cudaMemcpyPeer", WhileCapturing::forbidden,
                      [&](Lock& lock) { return copy(to, from, bytes, cudaMemcpyDeviceToDevice, nullptr, true, lock); });
}

cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return runtime_call("cudaMemcpy2DAsync", [&](Lock& lock) {
    if (width > to_pitch || width > from_pitch) return cudaErrorInvalidPitchValue;
    cudaError_t status = cudaSuccess;
    for (size_t row = 0; row < height && status == cudaSuccess; ++row)
      status = copy(static_cast<char*>(to) + row * to_pitch, static_cast<const char*>(from) + row * from_pitch, width,
                    kind, stream, false, lock);
    return status;
  });
}

cudaError_t cudaMemsetAsync(void* at, int value, size_t bytes, cudaStream_t stream) {
  return runtime_call("cudaMemsetAsync", [&](Lock& lock) { return fill(at, value, bytes, stream, lock); });
}

cudaError_t cudaMemset(void* at, int value, size_t bytes) {
  return runtime_call("cudaMemset", WhileCapturing::forbidden,
                      [&](Lock& lock) { return fill(at, value, bytes, nullptr, lock); });
}

}  // extern "C"
