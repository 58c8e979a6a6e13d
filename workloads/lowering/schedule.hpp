// SPDX-License-Identifier: Apache-2.0
// Which operations of a program are needed at all, and when parameter updates run.
#pragma once

#include <vector>

#include "workloads/program/program.hpp"

namespace gpusizer {

// The tensors that are read after the step: loss and correct, and in a program that updates nothing (differentiated,
// without an optimizer) also the gradients that no operation reads.
std::vector<TensorId> results(const Program& program);

// Removes operations that lead neither to a result nor to a persistent tensor. A program without either is left alone.
void drop_unused_operations(Program& program);

// Moves each update to directly after the last operation that it must wait for: that makes its gradient, or still
// reads the old parameter. Updates that wait for the same operation keep their order.
void update_early(Program& program);

}  // namespace gpusizer
