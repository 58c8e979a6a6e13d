// SPDX-License-Identifier: Apache-2.0
// Magnitude pruning: the smallest weights become zero.
#pragma once

#include <cstdint>

#include "workloads/program/program.hpp"
#include "workloads/transforms/tensor_values.hpp"

namespace gpusizer {

struct Pruned {
  int64_t weights = 0;   // that could have been chosen
  int64_t zeros = 0;     // of them, now
  double threshold = 0;  // the largest |w| that was set to zero
};

// Sets the `share` of the weights with the smallest |w| to zero: of the weights (not biases, norms or tables of
// embeddings) of all convolutions, fully connected and recurrent layers of the program taken together, so that layers
// with many small weights lose more (Han et al., "Learning both weights and connections for efficient neural networks",
// 2015, with one threshold for all). Nothing is trained afterwards. Kernels for dense matrices take as long as before.
// Throws Error(usage) for a share outside of [0, 1), and for missing values.
Pruned prune(const Program& program, double share, TensorValues& values);

}  // namespace gpusizer
