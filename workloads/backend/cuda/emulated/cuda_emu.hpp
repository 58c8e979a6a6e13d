// SPDX-License-Identifier: Apache-2.0
// CUDA's device language for a host compiler: force-included (-include) when a .cu file is compiled by g++ -x c++.
//
// The toolkit's own headers give the types and the runtime's signatures; here is what nvcc itself would supply. A
// kernel is an ordinary function whose threads are fibers (kernels/block.cpp). Kernels may use thread and block
// indices, static and dynamic shared memory (DYN_SMEM), __syncthreads*, __syncwarp, shuffles, votes, atomics, math, the
// types and operators of cuda_fp16.h and cuda_bf16.h, and vector loads.
#pragma once

#ifdef __CUDACC__
#error "cuda_emu.hpp is for host compilers only"
#endif
#define CUDA_EMU 1

// The toolkit's host_defines.h leaves these alone when they are defined before it. A kernel's shared array becomes a
// static one: one block runs at a time, and the address sanitizer puts red zones around it.
#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __shared__ static
#define __launch_bounds__(...)
#define __grid_constant__

#include <cuda_runtime_api.h>
#include <vector_functions.h>

#include "workloads/backend/cuda/emulated/kernels/intrinsics.hpp"
#include "workloads/backend/cuda/emulated/kernels/language.hpp"
#include "workloads/backend/cuda/emulated/kernels/launch.hpp"

namespace emu = gpusizer::emulated;
