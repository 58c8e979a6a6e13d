// SPDX-License-Identifier: Apache-2.0
// A report that a run goes on with: which of its cases are done, and whether it is this run's at all.
#pragma once

#include <string>
#include <vector>

#include "reports/record/record.hpp"

namespace gpusizer {

// Done cases are kept as they are, however they ended; interrupted and skipped ones are run.
bool is_done(const record::Case& one);

// Whether every one of the cases named by `ids` is there and done.
bool is_done(const record::Report& begun, const std::vector<std::string>& ids);

// A report describes one machine and one build of the program, and its cases are those of its command. Throws
// Error(usage) naming what differs.
void require_same_run(const record::Report& begun, const std::vector<std::string>& ids,
                      const record::Environment& machine, const record::Tool& tool);

}  // namespace gpusizer
