// SPDX-License-Identifier: Apache-2.0
// The one way in which kernels are started and shared memory of a size known at run time is declared: by nvcc for a GPU,
// by a host compiler for the emulated device of the tests (CUDA_EMU), where the same sources run thread by thread.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#if defined(__CUDACC__)
#include <cuda_runtime.h>
#define GPUSIZER_DYNAMIC_SHARED(T, name)                                        \
  extern __shared__ __align__(16) unsigned char gpusizer_dynamic_shared_bytes[]; \
  T* name = reinterpret_cast<T*>(gpusizer_dynamic_shared_bytes)
#else
#define GPUSIZER_DYNAMIC_SHARED(T, name) T* name = static_cast<T*>(::emu::dyn_smem())
#endif

namespace gpusizer::cuda {

struct LaunchShape {
  dim3 grid, block;
  size_t shared_bytes = 0;  // dynamic; more than 48 KiB must be asked for
};

// Arguments are converted to the kernel's own parameter types.
template <class... Parameters, class... Arguments>
cudaError_t launch(void (*kernel)(Parameters...), const LaunchShape& shape, cudaStream_t stream,
                   Arguments&&... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = shape.grid;
  config.blockDim = shape.block;
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = stream;
#if defined(__CUDACC__)
  return cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...);
#else
  return ::emu::launch(&config, kernel, static_cast<Parameters>(arguments)...);
#endif
}

// Blocks for `count` pieces of work of which each block does `each`; the grid's x dimension has room for 2^31 - 1.
inline dim3 blocks_for(int64_t count, int64_t each) { return dim3(static_cast<unsigned>((count + each - 1) / each)); }

}  // namespace gpusizer::cuda
