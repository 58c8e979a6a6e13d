// SPDX-License-Identifier: Apache-2.0
// Speed-up and efficiency of the cases of a report, each against the smallest layout of the same workload.
#pragma once

#include "reports/record/record.hpp"

namespace gpusizer::record {

// Fills Case.scaling of each case that has more ranks than another one of the same workload, and takes it from all others.
// Weak scaling compares cases of one batch per replica, strong scaling those of one batch of the job. The quotient's
// interval follows from those of both throughputs. Without an efficiency where the ranks have other numbers of threads.
// To be called when a case has ended, so that a report between cases has it too.
void fill_scaling(Report& report);

}  // namespace gpusizer::record
