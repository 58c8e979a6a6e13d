// SPDX-License-Identifier: Apache-2.0
// Kernel launches: limits that a real device has, arguments that it could read, and the check of thread order.
#include "workloads/backend/cuda/emulated/kernels/launch.hpp"

#include <cxxabi.h>
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <mutex>

#include "workloads/backend/cuda/emulated/kernels/block.hpp"
#include "workloads/backend/cuda/emulated/runtime/call.hpp"
#include "workloads/backend/cuda/emulated/runtime/devices.hpp"

namespace gpusizer::emulated {
namespace {

std::string kernel_name(const void* kernel) {
  Dl_info info;
  if (!dladdr(kernel, &info) || !info.dli_sname || info.dli_saddr != kernel) return "a kernel";
  int status = 0;
  char* plain = abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &status);
  std::string name = plain ? plain : info.dli_sname;
  std::free(plain);
  return name.substr(0, name.find('('));
}

cudaError_t check_dimensions(const dim3& grid, const dim3& block) {
  const size_t threads = size_t{block.x} * block.y * block.z;
  const bool empty = !grid.x || !grid.y || !grid.z || !threads;
  if (empty || threads > 1024 || block.z > 64 || grid.x > 2147483647u || grid.y > 65535 || grid.z > 65535)
    return cudaErrorInvalidConfiguration;
  return cudaSuccess;
}

// More than 48 KiB of dynamic shared memory needs cudaFuncSetAttribute() first.
cudaError_t check_shared(const void* kernel, size_t bytes) {
  constexpr size_t without_asking = 48 << 10;
  if (bytes <= without_asking) return cudaSuccess;
  const auto limit = machine().shared_limit.find(kernel);
  return limit != machine().shared_limit.end() && bytes <= limit->second ? cudaSuccess : cudaErrorInvalidValue;
}

std::string check_pointers(const void* const* pointers, int count, int device) {
  for (int i = 0; i < count; ++i) {
    if (!pointers[i]) continue;
    const std::string which = "pointer argument " + std::to_string(i + 1);
    const Allocation* allocation = find_allocation(pointers[i]);
    if (!allocation) return which + " is not device memory";
    if (!allocation->pinned && allocation->device != device)
      return which + " belongs to device " + std::to_string(allocation->device);
  }
  return "";
}

RunOrder run_order(ThreadOrder order) {
  if (order == ThreadOrder::reverse) return RunOrder::reverse;
  return order == ThreadOrder::random ? RunOrder::random : RunOrder::forward;
}

using Image = std::vector<std::pair<uintptr_t, std::vector<char>>>;

Image take_image(int device) {
  const Lock lock(machine().mutex);
  Image image;
  for (const auto& [begin, allocation] : machine().memory) {
    if (allocation.device != device || allocation.pinned) continue;
    const char* bytes = reinterpret_cast<const char*>(begin);
    image.emplace_back(begin, std::vector<char>(bytes, bytes + allocation.bytes));
  }
  return image;
}

void restore(const Image& image) {
  for (const auto& [begin, bytes] : image) std::memcpy(reinterpret_cast<void*>(begin), bytes.data(), bytes.size());
}

// Forward and in reverse on the same memory: what differs depends on which thread was first.
std::string run_both_orders(const Grid& grid, uint32_t seed, int device) {
  const Image before = take_image(device);
  if (std::string fault = run_grid(grid, RunOrder::reverse, seed); !fault.empty()) return fault;
  const Image reverse = take_image(device);
  restore(before);
  if (std::string fault = run_grid(grid, RunOrder::forward, seed); !fault.empty()) return fault;
  const Image forward = take_image(device);
  for (size_t i = 0; i < forward.size(); ++i)
    for (size_t at = 0; at < forward[i].second.size(); ++at)
      if (forward[i].second[at] != reverse[i].second[at])
        return grid.name + ": its result depends on the order of its threads, at byte " + std::to_string(at) +
               " of a buffer of " + std::to_string(forward[i].second.size()) + " bytes; is a __syncthreads() missing?";
  return "";
}

void run_kernel(const Grid& grid, int device) {
  Settings settings;
  uint32_t seed = 0;
  {
    const Lock lock(machine().mutex);
    settings = machine().settings;
    if (settings.thread_order == ThreadOrder::random) seed = machine().random();
  }
  const std::string fault = settings.thread_order == ThreadOrder::both
                                ? run_both_orders(grid, seed, device)
                                : run_grid(grid, run_order(settings.thread_order), seed);
  if (!fault.empty()) report_fault(device, cudaErrorLaunchFailure, fault);
}

}  // namespace

cudaError_t launch_body(const void* kernel, const cudaLaunchConfig_t* config, std::function<void()> body,
                        const void* const* pointers, int pointer_count) {
  return runtime_call("launch", [&](Lock& lock) -> cudaError_t {
    if (const cudaError_t bad = check_dimensions(config->gridDim, config->blockDim)) return bad;
    if (const cudaError_t bad = check_shared(kernel, config->dynamicSmemBytes)) return bad;
    Grid grid{config->gridDim, config->blockDim, config->dynamicSmemBytes, kernel_name(kernel), std::move(body)};
    const int device = resolve(config->stream)->device;
    if (device != host_thread().device) return cudaErrorInvalidResourceHandle;  // the stream is another device's
    const std::string bad_pointer = check_pointers(pointers, pointer_count, device);
    if (!bad_pointer.empty()) {
      set_broken(device, cudaErrorIllegalAddress, grid.name + ": " + bad_pointer);
      return cudaErrorIllegalAddress;
    }
    return put(
        config->stream,
        [grid, device] {
          return Task{grid.name, {}, [grid, device] { run_kernel(grid, device); }};
        },
        lock);
  });
}

}  // namespace gpusizer::emulated

using namespace gpusizer::emulated;

extern "C" {

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  return runtime_call("cudaFuncSetAttribute", [&](Lock&) {
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
    if (value < 0 || static_cast<size_t>(value) > described_device().shared_opt_in_bytes) return cudaErrorInvalidValue;
    machine().shared_limit[kernel] = static_cast<size_t>(value);
    return cudaSuccess;
  });
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel) {
  return runtime_call("cudaFuncGetAttributes", [&](Lock&) {
    *attributes = {};
    attributes->maxThreadsPerBlock = 1024;
    attributes->numRegs = 32;
    const auto limit = machine().shared_limit.find(kernel);
    attributes->maxDynamicSharedSizeBytes =
        limit == machine().shared_limit.end() ? 48 << 10 : static_cast<int>(limit->second);
    return cudaSuccess;
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void*, int threads, size_t,
                                                                   unsigned int) {
  return runtime_call("cudaOccupancyMaxActiveBlocksPerMultiprocessor", [&](Lock&) {
    if (!blocks || threads <= 0) return cudaErrorInvalidValue;
    *blocks = std::max(1, described_device().threads_per_processor / threads);
    return cudaSuccess;
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel, int threads, size_t bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, kernel, threads, bytes, 0);
}

}  // extern "C"
