// SPDX-License-Identifier: Apache-2.0
// A second opinion that only looks at the order of the runs: the exact test of Mann and Whitney (1947).
#pragma once

#include <optional>
#include <span>

namespace gpusizer::ci {

// Two-sided p that both sides come from the same source: twice the smaller tail of the exact distribution of U.
// Equal values count half to each side, rounded towards the middle, which errs towards "no difference".
// Nothing when a side has fewer than 4 runs (3 against 3 cannot go below 0.1) or more than 100.
std::optional<double> rank_test(std::span<const double> one, std::span<const double> other);

}  // namespace gpusizer::ci
