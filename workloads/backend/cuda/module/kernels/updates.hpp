// SPDX-License-Identifier: Apache-2.0
// Parameter updates of many tensors in one launch, the norm of all gradients, and the numbers that steer a step.
//
// Tensors are cut into chunks; a block does one chunk. Lists of tensors and chunks lie in device memory.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "workloads/backend/cuda/module/kernels/array.hpp"

namespace gpusizer::cuda {

inline constexpr int64_t chunk_elements = 8192;

struct Chunk {
  int32_t tensor;
  int32_t number;  // of the chunk within its tensor
};

enum class Rule : uint8_t { sgd, adam, adagrad, lamb };

// One parameter with its state. What a rule does not use is nullptr. Formulas: the attributes in program/operation.hpp.
struct Update {
  float* parameter;
  Array gradient;
  float *first, *second;  // momentum; m and v; sum
  Array short_parameter;  // a copy in another width that is written too, where its data is given
  int64_t count;
  float weight_decay, l1;
  int32_t first_chunk;  // of the tensor, in the list of chunks
};

struct UpdateCall {
  Rule rule;
  const Update* updates;
  const Chunk* chunks;
  int32_t update_count, chunk_count;
  const float* learning_rate;
  const float* factor;  // what gradients are multiplied by, 0 skips the step; nullptr: 1
  const float* steps;   // taken, with this one: adam and lamb
  float momentum, beta1, beta2, epsilon;
  float rest1, rest2;  // 1 - beta, which in float is not what it would be in double
  float log_beta1, log_beta2;
  bool decoupled;
  float* norms;  // lamb: lamb_norm_floats(), the sums of squares of each chunk and the ratio of each tensor
};

inline int64_t lamb_norm_floats(int64_t chunks, int64_t tensors) { return 2 * chunks + tensors; }

// Bytes moved: parameter, gradient and state once, what changes written once; 85 % of the bandwidth. LAMB: twice.
cudaError_t update_parameters(const UpdateCall& call, cudaStream_t stream);

// The gradients of which a norm is taken.
struct Summand {
  Array values;
  int64_t count;
};

struct NormCall {
  const Summand* summands;
  const Chunk* chunks;
  int32_t chunk_count;
  double* partials;          // [chunks]
  float* squares = nullptr;  // the sum itself is wanted, or:
  float *factor = nullptr, *norm = nullptr;
  const float* loss_scale = nullptr;  // that the gradients carry
  float clip = 0;
};

// One pass over the gradients: finite or not, norm, clip and loss scale together become one factor. Bytes moved: those of
// the gradients once; 85 % of the bandwidth.
cudaError_t gradient_norm(const NormCall& call, cudaStream_t stream);
// The same from a sum of squares that is known.
cudaError_t norm_factor(const float* squares, const NormCall& call, cudaStream_t stream);

cudaError_t count_step(float* steps, const float* factor, cudaStream_t stream);

struct LossScaleCall {
  float *scale, *good;
  const float* factor;
  float growth, backoff, largest, interval;
};
cudaError_t update_loss_scale(const LossScaleCall& call, cudaStream_t stream);

cudaError_t divide(float* quotient, const float* a, const float* b, cudaStream_t stream);
cudaError_t count_labels(float* count, const int32_t* labels, int64_t label_count, cudaStream_t stream);

}  // namespace gpusizer::cuda
