// SPDX-License-Identifier: Apache-2.0
// Sums over ranks that are told some steps later, so that no rank waits for the step that others are in.
#pragma once

#include <string>
#include <vector>

#include "workloads/transforms/insertion.hpp"

namespace gpusizer {

// One tensor to be summed, and the name under which what is under way is kept: the same in all programs of an executor.
struct DelayedAddend {
  TensorId tensor;  // f32
  std::string name;
};

// Inserts a delayed_all_reduce after the operation at `place`, as Insertion::apply() does, and the optimizer states that
// it needs: "<name>:delayed.0" to ".<delay>" for each tensor, and one count of steps for the whole program. Returns the
// sums of `attributes.delay` steps ago; in the first steps they are zeros.
// Throws Error(usage) for a tensor that is not f32.
std::vector<TensorId> add_delayed_sum(Insertion& edit, int32_t place, const std::string& layer,
                                      const std::vector<DelayedAddend>& addends,
                                      const CollectiveAttributes& attributes);

// The last thing to be done to a step with delayed sums: it counts itself. Without such sums: the step as it is.
Program count_delayed_steps(Program step);

}  // namespace gpusizer
