// SPDX-License-Identifier: Apache-2.0
// Builds and lowers the programs that a case needs, and plans their memory.
#pragma once

#include "bench/runner/prepared_case.hpp"

namespace gpusizer {

// Needs model, options, data, device, places of the ranks, epoch and loop of the case; fills the ranks' programs and
// plans, and the facts. Throws Error(usage) when the data lacks what the model reads, when a target accuracy is asked of
// a model that reports none, and for a layout that the model cannot have.
void build_case_programs(PreparedCase& prepared);

// Every input of a program must be a field of the data, of as many values as the program reads. Throws Error(usage).
void check_inputs(const Program& program, const std::vector<Field>& fields, const std::string& source);

}  // namespace gpusizer
