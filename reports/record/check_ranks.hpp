// SPDX-License-Identifier: Apache-2.0
// The rules of what a report says about ranks.
#pragma once

#include "reports/record/checks.hpp"
#include "reports/record/record.hpp"

namespace gpusizer::record {

// The layout agrees with the configuration, ranks exist, times are times; and what went over a simulated wire says so:
// its throughput is not called measured, and a validity flag blocks advice.
void check_ranks(const Checks& checks, const Case& run);

}  // namespace gpusizer::record
