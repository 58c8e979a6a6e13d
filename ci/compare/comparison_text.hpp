// SPDX-License-Identifier: Apache-2.0
// A comparison for people, and for programs.
#pragma once

#include <string>

#include "ci/compare/verdict.hpp"
#include "reports/render/table.hpp"

namespace gpusizer::ci {

// What is new, missing or wrong comes first, the unchanged is counted; `all` lists it too.
std::string comparison_text(const Comparison& comparison, const render::Look& look, bool all);

// {"schema": "gpusizer.comparison/1", ...}: everything of Comparison; a missing number is null.
std::string comparison_json(const Comparison& comparison, int exit_code);

}  // namespace gpusizer::ci
