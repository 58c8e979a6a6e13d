// SPDX-License-Identifier: Apache-2.0
// Vector kernels of the update phase: flat arrays, element by element. The formulas are in program/operation.hpp.
#pragma once

#include <cstdint>

namespace gpusizer::cpu {

// g = factor * gradient + weight_decay * w + l1 * sign(w)
struct UpdateTerms {
  float weight_decay = 0, l1 = 0, factor = 1;
};

struct SgdStep {
  float* parameter;
  const float* gradient;
  float* momentum;  // nullptr: plain gradient descent
  int64_t count;
  float learning_rate, momentum_factor;
  UpdateTerms terms;
};

struct AdamStep {
  float* parameter;
  const float* gradient;
  float *m, *v;
  int64_t count;
  float learning_rate, beta1, beta2, epsilon;
  float first_share, second_share;            // 1 - beta, taken in double: of 0.999 a float would lose 1e-5
  float first_correction, second_correction;  // 1 / (1 - beta^t)
  float shrink = 1;  // of the parameter before the update: decoupled weight decay
  UpdateTerms terms;
};

struct LambStep {
  AdamStep adam;           // without weight decay in its gradient
  float weight_decay = 0;  // in the update
  double* partial;         // workspace: two for each block
};

struct AdagradStep {
  float* parameter;
  const float* gradient;
  float* sum;
  int64_t count;
  float learning_rate, epsilon;
  UpdateTerms terms;
};

// Sums are taken block by block and the blocks' sums in order, so that they do not depend on the number of threads.
inline constexpr int64_t sum_block = 16384;
inline int64_t sum_blocks(int64_t count) { return (count + sum_block - 1) / sum_block; }

struct UpdateKernels {
  void (*sgd)(const SgdStep&);
  void (*adam)(const AdamStep&);
  void (*lamb)(const LambStep&);
  void (*adagrad)(const AdagradStep&);
  // The squares of one block's values, summed in double by the calling thread.
  double (*square_sum)(const float* values, int64_t count);
};

}  // namespace gpusizer::cpu
