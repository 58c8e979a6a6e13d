// SPDX-License-Identifier: Apache-2.0
// Layer normalisation of the rows of x [rows, width], and its gradients.
#pragma once

#include <cuda_runtime_api.h>

#include "workloads/backend/cuda/module/kernels/columns.hpp"

namespace gpusizer::cuda {

struct LayerNormCall {
  Array y, x, scale, shift;
  float* saved;  // mean and 1 / standard deviation of each row, [rows, 2]; or nullptr
  int64_t rows, width;
  float epsilon;
};

struct LayerNormBackwardCall {
  Array dx, dscale, dshift, dy, x, scale;
  const float* saved;
  float* partials;  // layer_norm_partial_floats()
  int64_t rows, width;
};

int64_t layer_norm_partial_floats(int64_t rows, int64_t width);

// Up to 1024 columns a row stays in registers. Bytes moved: x and y once; backward dy and x twice (the second time from
// the cache for all but the largest), dx once. Meant to reach 80 % of the bandwidth forward, 60 % backward.
cudaError_t layer_norm(const LayerNormCall& call, cudaStream_t stream);
cudaError_t layer_norm_backward(const LayerNormBackwardCall& call, cudaStream_t stream);

}  // namespace gpusizer::cuda
