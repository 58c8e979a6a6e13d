// SPDX-License-Identifier: Apache-2.0
// Device code: sums and maxima over the lanes of a warp and the warps of a block, always in the same order.
#pragma once

#include "workloads/backend/cuda/launch.hpp"

namespace gpusizer::cuda {

inline constexpr int warp = 32;
inline constexpr unsigned whole_warp = 0xffffffffu;

// All lanes get the result.
__device__ inline float warp_sum(float value) {
  for (int distance = warp / 2; distance > 0; distance /= 2) value += __shfl_xor_sync(whole_warp, value, distance);
  return value;
}

__device__ inline float warp_max(float value) {
  for (int distance = warp / 2; distance > 0; distance /= 2)
    value = fmaxf(value, __shfl_xor_sync(whole_warp, value, distance));
  return value;
}

// For blocks of whole warps, at most 1024 threads. All threads must call it, and get the result.
__device__ inline float block_sum(float value) {
  __shared__ float sums[warp];
  const int lane = static_cast<int>(threadIdx.x) % warp, which = static_cast<int>(threadIdx.x) / warp;
  value = warp_sum(value);
  __syncthreads();  // a former call's sums may still be read
  if (lane == 0) sums[which] = value;
  __syncthreads();
  return warp_sum(lane < static_cast<int>(blockDim.x) / warp ? sums[lane] : 0.f);
}

__device__ inline float block_max(float value) {
  __shared__ float maxima[warp];
  const int lane = static_cast<int>(threadIdx.x) % warp, which = static_cast<int>(threadIdx.x) / warp;
  value = warp_max(value);
  __syncthreads();
  if (lane == 0) maxima[which] = value;
  __syncthreads();
  return warp_max(lane < static_cast<int>(blockDim.x) / warp ? maxima[lane] : -INFINITY);
}

}  // namespace gpusizer::cuda
