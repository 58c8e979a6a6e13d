// SPDX-License-Identifier: Apache-2.0
// Builds and lowers the programs that a case needs, and plans their memory.
#pragma once

#include "bench/runner/prepared_case.hpp"

namespace gpusizer {

// Needs model, options, data, device, epoch and loop of the case; fills programs, facts and plan.
void build_case_programs(PreparedCase& prepared);

}  // namespace gpusizer
