// SPDX-License-Identifier: Apache-2.0
// Completes a forward program into a training step: backward, then one update for each parameter.
#pragma once

#include "workloads/program/program.hpp"

namespace gpusizer {

struct SgdOptions {
  double momentum = 0.9;
  double weight_decay = 1e-4;  // on every parameter, as PyTorch's SGD
};

// differentiate() followed by add_sgd().
Program training_program(const Program& forward, const SgdOptions& options);

// Appends one sgd operation per (parameter, gradient) pair, in order. The learning rate is the scalar "learning_rate"
// (initially 0, bound at run time); with a momentum each parameter gets the optimizer state "<parameter>:momentum".
Program add_sgd(Program differentiated, const std::vector<std::pair<TensorId, TensorId>>& gradients,
                const SgdOptions& options);

}  // namespace gpusizer
