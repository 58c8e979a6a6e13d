// SPDX-License-Identifier: Apache-2.0
// When half of everything moves at once it is seldom the code.
#pragma once

#include "ci/compare/verdict.hpp"

namespace gpusizer::ci {

// With at least 3 gated figures that could be judged, at least half of which moved the same way, sets
// `comparison.fleet_shift`. Where the environment differs too the moves become ambiguous ("fleet_shift"); where it does
// not they stand, for then the code or the machine itself is to blame.
void find_fleet_shift(Comparison& comparison);

}  // namespace gpusizer::ci
