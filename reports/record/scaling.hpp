// SPDX-License-Identifier: Apache-2.0
// Speed-up and efficiency of the cases of a report, each against the smallest layout of the same workload.
#pragma once

#include "reports/record/record.hpp"

namespace gpusizer::record {

// Fills Case.scaling of every case that has ranks or is the baseline of one that has; takes it from all others.
// To be called when a case has been added, so that a report between cases has it too.
void fill_scaling(Report& report);

}  // namespace gpusizer::record
