// SPDX-License-Identifier: Apache-2.0
// Devices: how many, which one is current, what they are like, and who can reach whose memory.
#include "workloads/backend/cuda/emulated/runtime/devices.hpp"

#include <array>
#include <cstdio>
#include <cstring>

#include "workloads/backend/cuda/emulated/runtime/call.hpp"

namespace gpusizer::emulated {
namespace {

// From NVIDIA's data sheets and the CUDA programming guide's table of technical specifications.
constexpr std::array<DescribedDevice, 7> devices = {{
    {75, "Tesla T4", 40, 65536, 65536, 0, 16, 1024, 4u << 20, 1590000, 5001000, 256},
    {80, "NVIDIA A100-SXM4-80GB", 108, 166912, 167936, 1024, 32, 2048, 40u << 20, 1410000, 1512000, 5120},
    {86, "NVIDIA GeForce RTX 3090 Ti", 84, 101376, 102400, 1024, 16, 1536, 6u << 20, 1860000, 10501000, 384},
    {89, "NVIDIA GeForce RTX 4090", 128, 101376, 102400, 1024, 24, 1536, 72u << 20, 2520000, 10501000, 384},
    {90, "NVIDIA H100 80GB HBM3", 132, 232448, 233472, 1024, 32, 2048, 50u << 20, 1980000, 2619000, 5120},
    {100, "NVIDIA B200", 148, 232448, 233472, 1024, 32, 2048, 126u << 20, 1965000, 3996000, 8192},
    {120, "NVIDIA GeForce RTX 5090", 170, 101376, 102400, 1024, 24, 1536, 96u << 20, 2407000, 14001000, 512},
}};

bool exists(int device) { return device >= 0 && device < machine().settings.devices; }

void fill_properties(cudaDeviceProp& p, int device) {
  const DescribedDevice& d = described_device();
  std::memset(static_cast<void*>(&p), 0, sizeof p);
  std::snprintf(p.name, sizeof p.name, "%s (emulated)", d.name);
  for (size_t i = 0; i < sizeof p.uuid.bytes; ++i)
    p.uuid.bytes[i] = static_cast<char>(0xe0u + static_cast<unsigned>(device) + static_cast<unsigned>(i));
  p.major = d.capability / 10;
  p.minor = d.capability % 10;
  p.totalGlobalMem = machine().settings.memory_bytes;
  p.sharedMemPerBlock = 49152;
  p.sharedMemPerBlockOptin = d.shared_opt_in_bytes;
  p.sharedMemPerMultiprocessor = d.shared_per_processor_bytes;
  p.reservedSharedMemPerBlock = static_cast<size_t>(d.reserved_shared_bytes);
  p.regsPerBlock = p.regsPerMultiprocessor = 65536;
  p.warpSize = 32;
  p.maxThreadsPerBlock = 1024;
  p.maxThreadsPerMultiProcessor = d.threads_per_processor;
  p.maxBlocksPerMultiProcessor = d.blocks_per_processor;
  p.multiProcessorCount = d.processors;
  p.l2CacheSize = static_cast<int>(d.l2_bytes);
  p.memoryBusWidth = d.memory_bus_bits;
  p.asyncEngineCount = 2;
  p.concurrentKernels = p.unifiedAddressing = p.canMapHostMemory = 1;
  p.memoryPoolsSupported = 1;
  p.pciBusID = device + 1;
  const int threads[3] = {1024, 1024, 64}, grid[3] = {2147483647, 65535, 65535};
  std::memcpy(p.maxThreadsDim, threads, sizeof threads);
  std::memcpy(p.maxGridSize, grid, sizeof grid);
}

int attribute_of(cudaDeviceAttr attribute, int device) {
  const DescribedDevice& d = described_device();
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
      return 1024;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      return 49152;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      return static_cast<int>(d.shared_opt_in_bytes);
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      return static_cast<int>(d.shared_per_processor_bytes);
    case cudaDevAttrReservedSharedMemoryPerBlock:
      return d.reserved_shared_bytes;
    case cudaDevAttrMaxRegistersPerBlock:
      return 65536;
    case cudaDevAttrMaxRegistersPerMultiprocessor:
      return 65536;
    case cudaDevAttrWarpSize:
      return 32;
    case cudaDevAttrMultiProcessorCount:
      return d.processors;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      return d.threads_per_processor;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      return d.blocks_per_processor;
    case cudaDevAttrComputeCapabilityMajor:
      return d.capability / 10;
    case cudaDevAttrComputeCapabilityMinor:
      return d.capability % 10;
    case cudaDevAttrClockRate:
      return d.core_khz;
    case cudaDevAttrMemoryClockRate:
      return d.memory_khz;
    case cudaDevAttrGlobalMemoryBusWidth:
      return d.memory_bus_bits;
    case cudaDevAttrL2CacheSize:
      return static_cast<int>(d.l2_bytes);
    case cudaDevAttrPciBusId:
      return device + 1;
    case cudaDevAttrAsyncEngineCount:
      return 2;
    case cudaDevAttrMaxGridDimX:
      return 2147483647;
    case cudaDevAttrMaxGridDimY:
      return 65535;
    case cudaDevAttrMaxGridDimZ:
      return 65535;
    case cudaDevAttrMaxBlockDimX:
      return 1024;
    case cudaDevAttrMaxBlockDimY:
      return 1024;
    case cudaDevAttrMaxBlockDimZ:
      return 64;
    case cudaDevAttrUnifiedAddressing:
      return 1;
    case cudaDevAttrConcurrentKernels:
      return 1;
    case cudaDevAttrCooperativeLaunch:
      return 1;
    case cudaDevAttrMemoryPoolsSupported:
      return 1;
    default:
      return 0;
  }
}

}  // namespace

const DescribedDevice& described_device() {
  const DescribedDevice* found = &devices.front();
  for (const DescribedDevice& device : devices)
    if (device.capability <= machine().settings.capability) found = &device;
  return *found;
}

}  // namespace gpusizer::emulated

using namespace gpusizer::emulated;

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  return runtime_call("cudaGetDeviceCount", [&](Lock&) {
    *count = machine().settings.devices;
    return *count ? cudaSuccess : cudaErrorNoDevice;
  });
}

cudaError_t cudaSetDevice(int device) {
  return runtime_call("cudaSetDevice", [&](Lock&) {
    if (!exists(device)) return cudaErrorInvalidDevice;
    host_thread().device = device;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDevice(int* device) {
  return runtime_call("cudaGetDevice", [&](Lock&) {
    *device = host_thread().device;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return runtime_call("cudaGetDeviceProperties", [&](Lock&) {
    if (!exists(device)) return cudaErrorInvalidDevice;
    fill_properties(*properties, device);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return runtime_call("cudaDeviceGetAttribute", [&](Lock&) {
    if (!exists(device)) return cudaErrorInvalidDevice;
    *value = attribute_of(attribute, device);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetPCIBusId(char* id, int bytes, int device) {
  return runtime_call("cudaDeviceGetPCIBusId", [&](Lock&) {
    if (!exists(device)) return cudaErrorInvalidDevice;
    if (!id || bytes < 13) return cudaErrorInvalidValue;
    std::snprintf(id, static_cast<size_t>(bytes), "0000:%02x:00.0", device + 1);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return runtime_call("cudaDeviceCanAccessPeer", [&](Lock&) {
    if (!exists(device) || !exists(peer)) return cudaErrorInvalidDevice;
    *can = device != peer;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int) {
  return runtime_call("cudaDeviceEnablePeerAccess",
                      [&](Lock&) { return exists(peer) ? cudaSuccess : cudaErrorInvalidDevice; });
}

cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr, int device, int peer) {
  return cudaDeviceCanAccessPeer(value, device, peer);
}

cudaError_t cudaSetDeviceFlags(unsigned int) { return cudaSuccess; }

// A real reset ends what a broken device's context holds; its memory stays allocated here until it is freed.
cudaError_t cudaDeviceReset(void) {
  const Lock lock(machine().mutex);
  machine().broken[static_cast<size_t>(host_thread().device)] = cudaSuccess;
  host_thread().last_error = cudaSuccess;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

}  // extern "C"
