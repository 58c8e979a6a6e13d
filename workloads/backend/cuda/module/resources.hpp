// SPDX-License-Identifier: Apache-2.0
// Memory, streams, events and graphs of a device, each owned by one object.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "workloads/backend/cuda/module/check.hpp"

namespace gpusizer::cuda {

// Owns what `Destroy` gives back. Destructors swallow errors: there is nobody to tell, and the next call says it again.
template <class Handle, auto Destroy>
class Owned {
 public:
  Owned() = default;
  explicit Owned(Handle handle) : handle_(handle) {}
  ~Owned() { reset(); }
  Owned(Owned&& other) noexcept : handle_(std::exchange(other.handle_, Handle{})) {}
  Owned& operator=(Owned&& other) noexcept {
    if (this != &other) {
      reset();
      handle_ = std::exchange(other.handle_, Handle{});
    }
    return *this;
  }
  Handle get() const { return handle_; }
  explicit operator bool() const { return handle_ != Handle{}; }

 private:
  void reset() {
    if (handle_) (void)Destroy(handle_);
    handle_ = Handle{};
  }
  Handle handle_{};
};

using Stream = Owned<cudaStream_t, cudaStreamDestroy>;
using Event = Owned<cudaEvent_t, cudaEventDestroy>;
using GraphExec = Owned<cudaGraphExec_t, cudaGraphExecDestroy>;

Stream make_stream();
Event make_event(bool timed = false);
// Seconds between two timed events that have happened.
double seconds_between(const Event& from, const Event& to);

// Device memory. Throws OutOfDeviceMemory with the bytes that were needed and those that are free.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  explicit DeviceMemory(int64_t bytes);
  std::byte* data() const { return static_cast<std::byte*>(memory_.get()); }
  int64_t bytes() const { return bytes_; }

 private:
  int64_t bytes_ = 0;
  Owned<void*, cudaFree> memory_;
};

// Host memory that the device reads and writes by itself.
class PinnedMemory {
 public:
  PinnedMemory() = default;
  explicit PinnedMemory(int64_t bytes);
  std::byte* data() const { return static_cast<std::byte*>(memory_.get()); }

 private:
  Owned<void*, cudaFreeHost> memory_;
};

}  // namespace gpusizer::cuda
