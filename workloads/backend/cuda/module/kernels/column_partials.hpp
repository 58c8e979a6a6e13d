// SPDX-License-Identifier: Apache-2.0
// Device code: the sums over chunks of rows of whatever can be worked out for eight elements of a row at once.
#pragma once

#include "workloads/backend/cuda/module/kernels/columns.hpp"
#include "workloads/backend/cuda/module/kernels/lanes.hpp"

namespace gpusizer::cuda {

// Values: a struct with `static constexpr int quantities` and
//   __device__ void operator()(int64_t row, int64_t column, bool whole, float (&v)[quantities][lanes]) const
// for the elements [column, column + 8) of a row, counted through all groups. Missing columns may be anything.
// partials: [groups][chunks][quantities][columns].
template <class Values>
__global__ void __launch_bounds__(ColumnPlan::threads) column_partials_kernel(ColumnPlan plan, Values values,
                                                                              float* partials) {
  constexpr int quantities = Values::quantities;
  __shared__ float shared[ColumnPlan::threads][lanes + 1];
  const int64_t column = (static_cast<int64_t>(blockIdx.x) * plan.across + threadIdx.x) * lanes;
  const int64_t first = static_cast<int64_t>(blockIdx.y) * plan.chunk_rows, group = blockIdx.z;
  const int64_t end = first + plan.chunk_rows < plan.rows ? first + plan.chunk_rows : plan.rows;
  float sums[quantities][lanes] = {};
  if (column < plan.columns)
    for (int64_t row = first + threadIdx.y; row < end; row += blockDim.y) {
      float v[quantities][lanes];
      values(group * plan.rows + row, column, plan.columns % lanes == 0, v);
      for (int q = 0; q < quantities; ++q)
        for (int i = 0; i < lanes; ++i) sums[q][i] += v[q][i];
    }
  const unsigned thread = threadIdx.y * blockDim.x + threadIdx.x;
  for (int q = 0; q < quantities; ++q) {
    for (int i = 0; i < lanes; ++i) shared[thread][i] = sums[q][i];
    __syncthreads();
    // Each thread adds one column of the block over the rows of threads.
    for (unsigned c = thread; c < plan.across * lanes; c += ColumnPlan::threads) {
      float sum = 0;
      for (unsigned y = 0; y < blockDim.y; ++y) sum += shared[y * blockDim.x + c / lanes][c % lanes];
      const int64_t at = static_cast<int64_t>(blockIdx.x) * plan.across * lanes + c;
      if (at < plan.columns) partials[((group * plan.chunks + blockIdx.y) * quantities + q) * plan.columns + at] = sum;
    }
    __syncthreads();
  }
}

template <class Values>
cudaError_t column_partials(const ColumnPlan& plan, const Values& values, float* partials, cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>((plan.columns + plan.across * lanes - 1) / (plan.across * lanes)),
                  static_cast<unsigned>(plan.chunks), static_cast<unsigned>(plan.groups));
  return launch(column_partials_kernel<Values>, {grid, dim3(plan.across, ColumnPlan::threads / plan.across)}, stream, plan,
                values, partials);
}

inline constexpr int totals_across = 32, totals_down = 8;

inline LaunchShape totals_shape(const ColumnPlan& plan) {
  return {blocks_for(plan.columns, totals_across), dim3(totals_across, totals_down)};
}

// The column that a thread of a kernel of totals_shape() has to do with.
__device__ inline int64_t totals_column() { return static_cast<int64_t>(blockIdx.x) * totals_across + threadIdx.x; }

// The whole sum of that column of one group; all threads must call it, and those with threadIdx.y == 0 get it. Chunks
// are shared out among the rows of threads, whose sums are added in order.
__device__ inline float column_total(const ColumnPlan& plan, const float* partials, int64_t group, int quantities,
                                     int quantity) {
  __shared__ float shared[totals_down][totals_across];
  const int64_t column = totals_column();
  float sum = 0;
  if (column < plan.columns)
    for (int64_t chunk = threadIdx.y; chunk < plan.chunks; chunk += totals_down)
      sum += partials[((group * plan.chunks + chunk) * quantities + quantity) * plan.columns + column];
  __syncthreads();  // a former call's sums may still be read
  shared[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  sum = 0;
  if (threadIdx.y == 0)
    for (int y = 0; y < totals_down; ++y) sum += shared[y][threadIdx.x];
  return sum;
}

}  // namespace gpusizer::cuda
