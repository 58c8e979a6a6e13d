// SPDX-License-Identifier: Apache-2.0
// Softmax cross-entropy, losses of numbers, and their gradients. Sums over rows are taken in a fixed order.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "workloads/backend/cuda/module/kernels/array.hpp"

namespace gpusizer::cuda {

// What is kept for the backward: of each row the largest logit and the logarithm of the sum of exponentials; then how
// many rows count.
inline int64_t cross_entropy_saved_floats(int64_t rows) { return 2 * rows + 1; }

struct CrossEntropyCall {
  Array logits;            // [rows, classes]
  const int32_t* labels;   // negative ones are left out where `ignores`
  float *loss, *correct, *count;  // single numbers; count may be nullptr
  float* saved;            // cross_entropy_saved_floats(), or nullptr
  float* row_losses;       // workspace: [rows, 4]
  int64_t rows, classes;
  float smoothing;
  bool ignores;
};

struct CrossEntropyBackwardCall {
  Array dx, logits;
  const float* dloss;
  const int32_t* labels;
  const float* saved;
  int64_t rows, classes;
  float smoothing;
  bool ignores;
};

// Bytes moved: the logits twice (mostly from the cache the second time); backward logits and gradients once. 75 %.
cudaError_t cross_entropy(const CrossEntropyCall& call, cudaStream_t stream);
cudaError_t cross_entropy_backward(const CrossEntropyBackwardCall& call, cudaStream_t stream);

// Mean squared error of targets [count], or the pinball loss of predictions [count, quantiles] where there are quantiles.
struct RegressionCall {
  Array prediction, target;
  int64_t count;  // of targets
  static constexpr int most_quantiles = 64;
  int quantile_count = 0;
  float quantiles[most_quantiles] = {};
  float* loss = nullptr;
  float* absolute_error = nullptr;
  float* partials = nullptr;  // workspace: regression_partial_floats
  // Backward: dx = *dloss * slope
  Array dx{};
  const float* dloss = nullptr;
};
inline constexpr int64_t regression_partial_floats = 2 * 256;

cudaError_t regression_loss(const RegressionCall& call, cudaStream_t stream);
cudaError_t regression_backward(const RegressionCall& call, cudaStream_t stream);

}  // namespace gpusizer::cuda
