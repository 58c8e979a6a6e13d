// SPDX-License-Identifier: Apache-2.0
// The test's kernels, compiled as C++ against the emulated device language.
#include "workloads/backend/cuda/emulated/tests/kernels.hpp"

namespace gpusizer::emulated {
namespace {

template <class T>
__global__ void add_scaled_kernel(T* __restrict__ y, const T* __restrict__ x, float factor, int64_t count) {
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step)
    y[i] = static_cast<T>(static_cast<float>(y[i]) + factor * static_cast<float>(x[i]));
}

__device__ float warp_sum(float value) {
  for (int bits = 16; bits > 0; bits /= 2) value += __shfl_xor_sync(0xffffffffu, value, bits);
  return value;
}

__device__ float block_sum(float value) {
  __shared__ float partial[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  value = warp_sum(value);
  if (lane == 0) partial[warp] = value;
  __syncthreads();
  value = lane < static_cast<int>(blockDim.x) / 32 ? partial[lane] : 0.0f;
  value = warp_sum(value);
  __syncthreads();
  return value;
}

__global__ void __launch_bounds__(256) sum_rows_kernel(float* sums, const float* x, int columns) {
  float sum = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += x[int64_t{blockIdx.x} * columns + i];
  sum = block_sum(sum);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

__global__ void sum_columns_kernel(float* sums, const float* x, int rows, int columns) {
  float* partial = static_cast<float*>(emu::dyn_smem());
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  if (column < columns)
    for (int row = threadIdx.y; row < rows; row += blockDim.y) sum += x[int64_t{row} * columns + column];
  partial[threadIdx.y * blockDim.x + threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y != 0 || column >= columns) return;
  for (unsigned row = 1; row < blockDim.y; ++row) sum += partial[row * blockDim.x + threadIdx.x];
  sums[column] = sum;
}

__global__ void sum_squares_kernel(float* sum, const float* x, int64_t count) {
  float own = 0;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += int64_t{gridDim.x} * blockDim.x)
    own += x[i] * x[i];
  own = block_sum(own);
  if (threadIdx.x == 0) atomicAdd(sum, own);
}

__global__ void vote_kernel(unsigned* votes, const float* x) {
  const unsigned bits = __ballot_sync(0xffffffffu, x[threadIdx.x] > 0);
  const int count = __syncthreads_count(x[threadIdx.x] > 0);
  if (threadIdx.x == 0) votes[0] = bits;
  if (threadIdx.x == 0) votes[1] = static_cast<unsigned>(count);
}

__global__ void copy_vectors_kernel(float4* to, const float4* from, int64_t count) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) to[i] = from[i];
}

__global__ void use_shared_kernel(float* any) {
  static_cast<char*>(emu::dyn_smem())[threadIdx.x] = 0;
  if (threadIdx.x == 0) any[0] = 1;
}

// --- wrong on purpose ---

__global__ void write_past_buffer(float* x, int count) {
  const int i = threadIdx.x;
  if (i <= count) x[i] = 1;
}

__global__ void write_past_dynamic_shared(float* x, int count) {
  float* shared = static_cast<float*>(emu::dyn_smem());
  shared[threadIdx.x + 1] = 1;
  __syncthreads();
  if (threadIdx.x < static_cast<unsigned>(count)) x[threadIdx.x] = 1;
}

__global__ void missing_sync(float* x, int count) {
  __shared__ float shared[256];
  shared[threadIdx.x] = static_cast<float>(threadIdx.x);
  x[threadIdx.x % count] = shared[blockDim.x - 1 - threadIdx.x];
}

__global__ void race_between_threads(float* x, int count) {
  x[threadIdx.x / 2 % count] = static_cast<float>(threadIdx.x);
}

__global__ void divergent_sync(float* x, int count) {
  if (threadIdx.x < 10) {
    __syncthreads();
  } else {
    __syncthreads();
  }
  if (threadIdx.x < static_cast<unsigned>(count)) x[threadIdx.x] = 1;
}

__global__ void shuffle_without_half_the_warp(float* x, int) {
  if (threadIdx.x < 16) x[threadIdx.x] = __shfl_xor_sync(0xffffffffu, 1.0f, 1);
}

__global__ void return_before_sync_of_warp(float* x, int) {
  if (threadIdx.x >= 3) return;
  x[threadIdx.x] = 1;
  __syncwarp();
}

__global__ void shuffle_from_outside_the_mask(float* x, int) {
  if (threadIdx.x < 16) x[threadIdx.x] = __shfl_sync(0x0000ffffu, 1.0f, 20);
}

template <class... P>
cudaError_t start(void (*kernel)(P...), dim3 grid, dim3 block, size_t shared, cudaStream_t stream,
                  std::type_identity_t<P>... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared;
  config.stream = stream;
  return emu::launch(&config, kernel, arguments...);
}

dim3 blocks_of_256(int64_t count) { return dim3(static_cast<unsigned>((count + 255) / 256)); }

}  // namespace

cudaError_t add_scaled(float* y, const float* x, float factor, int64_t count, cudaStream_t stream) {
  return start(add_scaled_kernel<float>, blocks_of_256(count), dim3(256), 0, stream, y, x, factor, count);
}

cudaError_t add_scaled(__half* y, const __half* x, float factor, int64_t count, cudaStream_t stream) {
  return start(add_scaled_kernel<__half>, dim3(3), dim3(64), 0, stream, y, x, factor, count);
}

cudaError_t sum_rows(float* sums, const float* x, int rows, int columns, cudaStream_t stream) {
  return start(sum_rows_kernel, dim3(static_cast<unsigned>(rows)), dim3(256), 0, stream, sums, x, columns);
}

cudaError_t sum_columns(float* sums, const float* x, int rows, int columns, cudaStream_t stream) {
  const dim3 block(32, 8);
  return start(sum_columns_kernel, dim3(static_cast<unsigned>(columns + 31) / 32), block, 32 * 8 * sizeof(float),
               stream, sums, x, rows, columns);
}

cudaError_t sum_squares(float* sum, const float* x, int64_t count, cudaStream_t stream) {
  return start(sum_squares_kernel, dim3(4), dim3(128), 0, stream, sum, x, count);
}

cudaError_t vote_positive(unsigned* votes, const float* x, int threads, cudaStream_t stream) {
  return start(vote_kernel, dim3(1), dim3(static_cast<unsigned>(threads)), 0, stream, votes, x);
}

cudaError_t copy_vectors(float* to, const float* from, int64_t count, cudaStream_t stream) {
  return start(copy_vectors_kernel, blocks_of_256(count / 4), dim3(256), 0, stream, reinterpret_cast<float4*>(to),
               reinterpret_cast<const float4*>(from), count / 4);
}

cudaError_t use_shared_bytes(float* any, size_t bytes, cudaStream_t stream) {
  return start(use_shared_kernel, dim3(1), dim3(32), bytes, stream, any);
}

cudaError_t allow_shared_bytes(int bytes) {
  return cudaFuncSetAttribute(reinterpret_cast<const void*>(use_shared_kernel),
                              cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
}

cudaError_t run_planted(Planted fault, float* x, int count, cudaStream_t stream) {
  constexpr void (*kernels[])(float*, int) = {
      write_past_buffer,
      write_past_dynamic_shared,
      missing_sync,
      race_between_threads,
      divergent_sync,
      shuffle_without_half_the_warp,
      return_before_sync_of_warp,
      shuffle_from_outside_the_mask,
  };
  const size_t shared = fault == Planted::write_past_dynamic_shared ? 256 * sizeof(float) : 0;
  const bool one_warp = fault >= Planted::shuffle_without_half_the_warp;
  return start(kernels[static_cast<size_t>(fault)], dim3(1), dim3(one_warp ? 32 : 256), shared, stream, x, count);
}

}  // namespace gpusizer::emulated
