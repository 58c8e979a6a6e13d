// SPDX-License-Identifier: Apache-2.0
// Two sets of reports -> a comparison: every figure of either set gets exactly one verdict.
#pragma once

#include <vector>

#include "ci/compare/rules.hpp"
#include "ci/compare/verdict.hpp"
#include "reports/record/record.hpp"

namespace gpusizer::ci {

// Figures are matched by case and metric id, then by the aliases of the metric. The order of reports, cases and metrics
// makes no difference. Throws Error(usage) for a rule of a file that no figure matches.
Comparison compare(const std::vector<record::Report>& base, const std::vector<record::Report>& fresh, const Rules& rules);

// 0 nothing to complain of; 1 a gated figure has a verdict of rules.fail_on (0 with warn_only); 3 nothing could be
// compared; 4 a case failed, a required figure is missing or nothing was measured. 4 wins over 1, 1 over 3.
int exit_code_of(const Comparison& comparison, const Rules& rules, bool warn_only);

}  // namespace gpusizer::ci
