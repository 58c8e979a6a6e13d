// SPDX-License-Identifier: Apache-2.0
// Many figures tested at once: how many surprises are still surprising.
#pragma once

#include <span>
#include <vector>

namespace gpusizer::ci {

// Which of the p-values stand when a share `q` of false ones among the named ones is bearable (Benjamini and Hochberg
// 1995): for looking into.
std::vector<bool> benjamini_hochberg(std::span<const double> p_values, double q);

// Which stand when not even one false one is bearable, at the level `alpha` for all together (Holm 1979): for blocking.
std::vector<bool> holm(std::span<const double> p_values, double alpha);

}  // namespace gpusizer::ci
