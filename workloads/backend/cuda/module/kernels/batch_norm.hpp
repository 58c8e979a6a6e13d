// SPDX-License-Identifier: Apache-2.0
// Batch normalisation of images [N, H, W, C], alone or with a residual and a ReLU, in one call each way.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "workloads/backend/cuda/module/kernels/columns.hpp"

namespace gpusizer::cuda {

// Of groups of rows that are normalised together, by channel. `mask`: one bit for each element that the ReLU let through.
struct BatchNormCall {
  ColumnPlan plan;  // rows of a group, channels, groups
  Array y, x, scale, shift, residual{};
  float *mean = nullptr, *inverse = nullptr;  // [groups, channels]; inverse: 1 / standard deviation
  float *running_mean = nullptr, *running_variance = nullptr;
  float* partials = nullptr;  // plan.partial_floats(2)
  uint8_t* mask = nullptr;
  float epsilon = 0, momentum = 0;
  bool relu = false;
};

struct BatchNormBackwardCall {
  ColumnPlan plan;
  Array dx, dscale, dshift, dy, second_dy{}, dresidual{}, x, scale;
  const float *mean, *inverse;
  float* partials;  // plan.partial_floats(2)
  float* sums;      // [groups, 2, channels]
  const uint8_t* mask = nullptr;
};

inline int64_t batch_norm_mask_bytes(const ColumnPlan& plan) { return (plan.groups * plan.rows * plan.columns + 7) / 8; }

// Training: takes the statistics, moves the running ones, normalises. Bytes moved: x twice, y once. 70 %.
cudaError_t batch_norm_training(const BatchNormCall& call, cudaStream_t stream);
// By the running statistics.
cudaError_t batch_norm_inference(const BatchNormCall& call, cudaStream_t stream);
// Bytes moved: the gradients and x twice, dx once.
cudaError_t batch_norm_backward(const BatchNormBackwardCall& call, cudaStream_t stream);

}  // namespace gpusizer::cuda
