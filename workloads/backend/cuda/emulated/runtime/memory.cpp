// SPDX-License-Identifier: Apache-2.0
// Memory of devices and pinned host memory: limited, filled with NaN, with an owner, and with guards around it.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "workloads/backend/cuda/emulated/runtime/call.hpp"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace gpusizer::emulated {
namespace {

constexpr size_t alignment = 256;  // what cudaMalloc promises
#if defined(__SANITIZE_ADDRESS__)
constexpr size_t guard_bytes = 0;  // the sanitizer's own red zones say more, and at the line that writes
#else
constexpr size_t guard_bytes = 256;
#endif

void add_guard(char* at, size_t bytes, int device) {
  if (!bytes) return;
  std::memset(at, guard_pattern, bytes);
#if defined(__SANITIZE_ADDRESS__)
  __asan_poison_memory_region(at, bytes);
#endif
  machine().guards[reinterpret_cast<uintptr_t>(at)] = {bytes, device};
}

void drop_guards(uintptr_t from, uintptr_t to) {
  auto& guards = machine().guards;
  for (auto zone = guards.lower_bound(from); zone != guards.end() && zone->first < to; zone = guards.erase(zone)) {
#if defined(__SANITIZE_ADDRESS__)
    __asan_unpoison_memory_region(reinterpret_cast<void*>(zone->first), zone->second.bytes);
#endif
  }
}

bool is_untouched([[maybe_unused]] uintptr_t at, [[maybe_unused]] size_t bytes) {
#if !defined(__SANITIZE_ADDRESS__)
  const auto* bytes_at = reinterpret_cast<const unsigned char*>(at);
  for (size_t i = 0; i < bytes; ++i)
    if (bytes_at[i] != guard_pattern) return false;
#endif
  return true;
}

std::string place_of_guard(uintptr_t at) {
  for (const auto& [begin, allocation] : machine().memory) {
    const std::string size = std::to_string(allocation.bytes) + " bytes";
    if (at + guard_bytes == begin) return "before a buffer of " + size;
    if (at >= begin + allocation.bytes && at < begin + allocation.bytes + guard_bytes)
      return "past a buffer of " + size;
    if (at > begin && at < begin + allocation.bytes)
      return "past a buffer that ends at byte " + std::to_string(at - begin) + " of " + size;
  }
  return "outside its buffers";
}

cudaError_t allocate(void** at, size_t bytes, bool pinned) {
  Machine& m = machine();
  const int device = host_thread().device;
  size_t& used = m.used[static_cast<size_t>(device)];
  if (!at) return cudaErrorInvalidValue;
  *at = nullptr;
  if (bytes == 0) return cudaSuccess;
  if (!pinned && bytes > m.settings.memory_bytes - std::min(used, m.settings.memory_bytes))
    return cudaErrorMemoryAllocation;
  void* block = nullptr;
  if (posix_memalign(&block, alignment, bytes + 2 * guard_bytes)) return cudaErrorMemoryAllocation;
  char* begin = static_cast<char*>(block) + guard_bytes;
  std::memset(begin, unset_memory, bytes);
  add_guard(begin - guard_bytes, guard_bytes, device);
  add_guard(begin + bytes, guard_bytes, device);
  m.memory[reinterpret_cast<uintptr_t>(begin)] = {bytes, device, pinned, block};
  if (!pinned) used += bytes;
  *at = begin;
  return cudaSuccess;
}

cudaError_t release(void* at, bool pinned) {
  Machine& m = machine();
  const auto found = m.memory.find(reinterpret_cast<uintptr_t>(at));
  if (found == m.memory.end() || found->second.pinned != pinned) return cudaErrorInvalidValue;
  const Allocation allocation = found->second;
  const std::string written = check_guards(allocation.device);
  if (!written.empty()) set_broken(allocation.device, cudaErrorIllegalAddress, "something wrote " + written);
  drop_guards(found->first - guard_bytes, found->first + allocation.bytes + guard_bytes);
  if (!pinned) m.used[static_cast<size_t>(allocation.device)] -= allocation.bytes;
  m.memory.erase(found);
  std::free(allocation.block);
  return cudaSuccess;
}

// Real frees wait for the whole device.
cudaError_t release_when_idle(void* at, bool pinned, Lock& lock) {
  if (!at) return cudaSuccess;
  const Allocation* allocation = find_allocation(at);
  if (!allocation) return cudaErrorInvalidValue;
  const int device = allocation->device;
  drain(lock, nullptr,
        [device] { return device_idle(device) || machine().broken[static_cast<size_t>(device)] != cudaSuccess; });
  return release(at, pinned);
}

}  // namespace

const Allocation* find_allocation(const void* at, uintptr_t* begin) {
  const auto address = reinterpret_cast<uintptr_t>(at);
  auto found = machine().memory.upper_bound(address);
  if (found == machine().memory.begin()) return nullptr;
  --found;
  if (address > found->first + found->second.bytes) return nullptr;  // one past the end is a pointer that may exist
  if (begin) *begin = found->first;
  return &found->second;
}

bool is_device_memory(const void* at, size_t bytes, int device) {
  const Lock lock(machine().mutex);
  uintptr_t begin = 0;
  const Allocation* allocation = find_allocation(at, &begin);
  return allocation && (allocation->pinned || allocation->device == device) &&
         reinterpret_cast<uintptr_t>(at) + bytes <= begin + allocation->bytes;
}

std::string check_guards(int device) {
  std::string found;
  for (const auto& [at, zone] : machine().guards) {
    if (zone.device != device || is_untouched(at, zone.bytes)) continue;
    if (found.empty()) found = place_of_guard(at);
    std::memset(reinterpret_cast<void*>(at), guard_pattern, zone.bytes);  // said once
  }
  return found;
}

void guard(void* at, size_t bytes) {
  const Lock lock(machine().mutex);
  const Allocation* allocation = find_allocation(at);
  add_guard(static_cast<char*>(at), bytes, allocation ? allocation->device : 0);
}

void remove_guards(const void* at, size_t bytes) {
  const Lock lock(machine().mutex);
  drop_guards(reinterpret_cast<uintptr_t>(at), reinterpret_cast<uintptr_t>(at) + bytes);
}

}  // namespace gpusizer::emulated

using namespace gpusizer::emulated;

extern "C" {

cudaError_t cudaMalloc(void** at, size_t bytes) {
  return runtime_call("cudaMalloc", WhileCapturing::forbidden, [&](Lock&) { return allocate(at, bytes, false); });
}

cudaError_t cudaFree(void* at) {
  return cleanup_call("cudaFree", WhileCapturing::forbidden,
                      [&](Lock& lock) { return release_when_idle(at, false, lock); });
}

cudaError_t cudaMallocHost(void** at, size_t bytes) {
  return runtime_call("cudaMallocHost", WhileCapturing::forbidden, [&](Lock&) { return allocate(at, bytes, true); });
}

cudaError_t cudaHostAlloc(void** at, size_t bytes, unsigned int) {
  return runtime_call("cudaHostAlloc", WhileCapturing::forbidden, [&](Lock&) { return allocate(at, bytes, true); });
}

cudaError_t cudaFreeHost(void* at) {
  return cleanup_call("cudaFreeHost", WhileCapturing::forbidden,
                      [&](Lock& lock) { return release_when_idle(at, true, lock); });
}

// The memory is there at once; a use before the stream came to the allocation is not noticed.
cudaError_t cudaMallocAsync(void** at, size_t bytes, cudaStream_t) {
  return runtime_call("cudaMallocAsync", WhileCapturing::forbidden, [&](Lock&) { return allocate(at, bytes, false); });
}

cudaError_t cudaFreeAsync(void* at, cudaStream_t stream) {
  return runtime_call("cudaFreeAsync", WhileCapturing::forbidden, [&](Lock& lock) {
    if (!at) return cudaSuccess;
    const auto free_task = [at] {
      Task task{"an asynchronous free"};
      task.locked = task.always = true;
      task.run = [at] { release(at, false); };
      return task;
    };
    return find_allocation(at) ? put(stream, free_task, lock) : cudaErrorInvalidValue;
  });
}

cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  return runtime_call("cudaMemGetInfo", [&](Lock&) {
    const Machine& m = machine();
    const size_t used = m.used[static_cast<size_t>(host_thread().device)];
    if (total_bytes) *total_bytes = m.settings.memory_bytes;
    if (free_bytes) *free_bytes = m.settings.memory_bytes - std::min(used, m.settings.memory_bytes);
    return cudaSuccess;
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* at) {
  return runtime_call("cudaPointerGetAttributes", [&](Lock&) {
    if (!attributes) return cudaErrorInvalidValue;
    *attributes = {};
    const Allocation* allocation = find_allocation(at);
    if (!allocation) return cudaSuccess;  // type 0: memory that CUDA does not know
    attributes->type = allocation->pinned ? cudaMemoryTypeHost : cudaMemoryTypeDevice;
    attributes->device = allocation->device;
    attributes->devicePointer = const_cast<void*>(at);
    attributes->hostPointer = allocation->pinned ? const_cast<void*>(at) : nullptr;
    return cudaSuccess;
  });
}

}  // extern "C"
