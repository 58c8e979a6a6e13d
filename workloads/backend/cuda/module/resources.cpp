// SPDX-License-Identifier: Apache-2.0
// Making what resources.hpp owns.
#include "workloads/backend/cuda/module/resources.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "workloads/backend/device_memory.hpp"

namespace gpusizer::cuda {

namespace {

double gib(int64_t bytes) { return static_cast<double>(bytes) / (1 << 30); }

void* allocate(int64_t bytes) {
  void* data = nullptr;
  const cudaError_t status = cudaMalloc(&data, static_cast<size_t>(std::max<int64_t>(bytes, 1)));
  if (status != cudaErrorMemoryAllocation) {
    check(status, "cudaMalloc");
    return data;
  }
  (void)cudaGetLastError();
  size_t free_bytes = 0, all = 0;
  GPUSIZER_CHECK(cudaMemGetInfo(&free_bytes, &all));
  const auto left = static_cast<int64_t>(free_bytes);
  throw OutOfDeviceMemory(fmt::format("the program needs {:.2f} GiB on the device and {:.2f} GiB are free", gib(bytes), gib(left)),
                          "cuda", bytes, left);
}

void* pin(int64_t bytes) {
  void* data = nullptr;
  GPUSIZER_CHECK(cudaMallocHost(&data, static_cast<size_t>(std::max<int64_t>(bytes, 1))));
  return data;
}

}  // namespace

Stream make_stream() {
  cudaStream_t stream = nullptr;
  GPUSIZER_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return Stream(stream);
}

Event make_event(bool timed) {
  cudaEvent_t event = nullptr;
  GPUSIZER_CHECK(cudaEventCreateWithFlags(&event, timed ? cudaEventDefault : cudaEventDisableTiming));
  return Event(event);
}

double seconds_between(const Event& from, const Event& to) {
  float milliseconds = 0;
  GPUSIZER_CHECK(cudaEventElapsedTime(&milliseconds, from.get(), to.get()));
  return static_cast<double>(milliseconds) * 1e-3;
}

DeviceMemory::DeviceMemory(int64_t bytes) : bytes_(bytes), memory_(allocate(bytes)) {}

PinnedMemory::PinnedMemory(int64_t bytes) : memory_(pin(bytes)) {}

}  // namespace gpusizer::cuda
