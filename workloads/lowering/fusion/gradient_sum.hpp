// SPDX-License-Identifier: Apache-2.0
// Lets an operation sum its incoming gradients itself, instead of an add before it.
#pragma once

#include <vector>

#include "workloads/lowering/rewriter.hpp"

namespace gpusizer::fusion {

// What `reader` has to sum in place of its input `gradient`: the two addends, where an add of the backward phase made
// the gradient for this reader alone (the add is removed then); otherwise the gradient itself.
std::vector<TensorId> take_gradient_sum(Rewriter& rewriter, TensorId gradient, int32_t reader);

}  // namespace gpusizer::fusion
