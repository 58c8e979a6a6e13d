// SPDX-License-Identifier: Apache-2.0
// Sums over the rows of a matrix: gradients of biases.
#include "workloads/backend/cuda/module/kernels/columns.hpp"

#include "workloads/backend/cuda/module/kernels/column_partials.hpp"

namespace gpusizer::cuda {

namespace {

struct Plain {
  static constexpr int quantities = 1;
  Array x;
  int64_t columns;
  __device__ void operator()(int64_t row, int64_t column, bool whole, float (&v)[1][lanes]) const {
    read_row(x, row, column, columns, whole, 0, v[0]);
  }
};

__global__ void totals_kernel(ColumnPlan plan, const float* partials, Array sums) {
  const float total = column_total(plan, partials, 0, 1, 0);
  if (threadIdx.y == 0 && totals_column() < plan.columns) write_one(sums, totals_column(), total);
}

}  // namespace

cudaError_t column_sums(const ColumnPlan& plan, const Array& x, const Array& sums, float* partials, cudaStream_t stream) {
  if (const cudaError_t error = column_partials(plan, Plain{x, plan.columns}, partials, stream)) return error;
  return launch(totals_kernel, totals_shape(plan), stream, plan, partials, sums);
}

}  // namespace gpusizer::cuda
