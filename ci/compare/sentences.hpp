// SPDX-License-Identifier: Apache-2.0
// A judgement in one sentence for people.
#pragma once

#include <string>

#include "ci/compare/verdict.hpp"

namespace gpusizer::ci {

// By verdict and reason. Reasons with their own words (failures, differences) have set their sentence before.
std::string sentence_for(const Judgement& judgement);

std::string signed_percent(double share, int digits = 1);  // "+2.9 %", "-0.4 %"

}  // namespace gpusizer::ci
