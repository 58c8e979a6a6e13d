// SPDX-License-Identifier: Apache-2.0
// Reverse-mode differentiation: pairs each operation of a forward program with its backward.
#pragma once

#include <utility>
#include <vector>

#include "workloads/program/program.hpp"

namespace gpusizer {

struct Differentiated {
  Program program;  // the forward program, then the backward operations in reverse order
  // Every parameter with its gradient, in the order in which the gradients become ready.
  std::vector<std::pair<TensorId, TensorId>> gradients;
};

// The gradient of the program's loss for every parameter. The loss's own gradient is the scalar tensor
// "loss:grad" (1 unless somebody writes it: a loss scale). Nothing is computed that no parameter needs: the first
// layer gets no gradient for its input. Tensors named in `also` (inputs, say) get gradients too, appended to the list.
// Throws Error(usage) for a program without a loss, or with a parameter that the loss does not depend on.
Differentiated differentiate(const Program& forward, const std::vector<TensorId>& also = {});

}  // namespace gpusizer
