// SPDX-License-Identifier: Apache-2.0
// Small kernels for the tests of the emulated device, some of them wrong on purpose.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime_api.h>

#include <cstdint>

namespace gpusizer::emulated {

cudaError_t add_scaled(float* y, const float* x, float factor, int64_t count, cudaStream_t stream);  // y += factor x
cudaError_t add_scaled(__half* y, const __half* x, float factor, int64_t count, cudaStream_t stream);
// Sum of each row of x [rows, columns]: a warp's shuffles, static shared memory, __syncthreads().
cudaError_t sum_rows(float* sums, const float* x, int rows, int columns, cudaStream_t stream);
// Sum of each column: blocks of 32 x 8 threads and dynamic shared memory.
cudaError_t sum_columns(float* sums, const float* x, int rows, int columns, cudaStream_t stream);
cudaError_t sum_squares(float* sum, const float* x, int64_t count, cudaStream_t stream);  // atomicAdd
// votes[0]: lanes of a warp whose x is positive, as bits; votes[1]: how many threads of the block have one.
cudaError_t vote_positive(unsigned* votes, const float* x, int threads, cudaStream_t stream);
// Copies four at a time.
cudaError_t copy_vectors(float* to, const float* from, int64_t count, cudaStream_t stream);
cudaError_t use_shared_bytes(float* any, size_t bytes, cudaStream_t stream);
cudaError_t allow_shared_bytes(int bytes);

enum class Planted {
  write_past_buffer,
  write_past_dynamic_shared,
  missing_sync,
  race_between_threads,
  divergent_sync,
  shuffle_without_half_the_warp,
  return_before_sync_of_warp,
  shuffle_from_outside_the_mask,
};
cudaError_t run_planted(Planted fault, float* x, int count, cudaStream_t stream);

}  // namespace gpusizer::emulated
