// SPDX-License-Identifier: Apache-2.0
// Rows that begin as a bias.
#include "workloads/backend/cuda/module/kernels/bias.hpp"

#include "workloads/backend/cuda/module/kernels/lanes.hpp"

namespace gpusizer::cuda {

namespace {

constexpr int threads = 256;

__global__ void __launch_bounds__(threads) fill_kernel(Array y, Array bias, int64_t rows, int64_t columns) {
  const bool whole = columns % lanes == 0;
  const int64_t vectors = (columns + lanes - 1) / lanes;
  const int64_t i = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x;
  if (i >= rows * vectors) return;
  float values[lanes];
  const int64_t row = i / vectors, at = i % vectors * lanes;
  read_row(bias, 0, at, columns, whole, 0, values);
  write_row(y, row, at, columns, whole, values);
}

}  // namespace

cudaError_t fill_rows(const Array& y, const Array& bias, int64_t rows, int64_t columns, cudaStream_t stream) {
  return launch(fill_kernel, {blocks_for(rows * ((columns + lanes - 1) / lanes), threads), dim3(threads)}, stream, y, bias,
                rows, columns);
}

}  // namespace gpusizer::cuda
