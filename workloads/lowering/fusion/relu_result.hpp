// SPDX-License-Identifier: Apache-2.0
// Lets a ReLU's backward look at the ReLU's result: y > 0 says all that it must know.
#pragma once

#include "workloads/lowering/rewriter.hpp"

namespace gpusizer::fusion {

// Whoever reads what `forward_op` (outputs y, saved) saved reads y from now on. Returns whether anybody does.
bool read_result_instead(Rewriter& rewriter, int32_t forward_op);

}  // namespace gpusizer::fusion
