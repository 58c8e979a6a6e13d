// SPDX-License-Identifier: Apache-2.0
// Batch norms of an evaluation program taken into the convolutions before them.
#pragma once

#include "workloads/program/program.hpp"
#include "workloads/transforms/tensor_values.hpp"

namespace gpusizer {

// Each convolution whose only reader is a batch norm by running statistics does its work: channel k of the weight times
// f = scale[k] / sqrt(variance[k] + epsilon), and the bias shift[k] + f (bias[k] - mean[k]). Adds these to `values` as
// "<weight>:folded" and "<layer>.bias:folded"; the weights that they are made of stay what they are. What else there is
// stays too: a batch norm of a training program, or behind something else. Throws Error(usage) for missing values.
Program fold_batch_norm(Program program, TensorValues& values);

}  // namespace gpusizer
