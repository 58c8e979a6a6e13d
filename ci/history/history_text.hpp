// SPDX-License-Identifier: Apache-2.0
// A history and a check of it, for people and for programs.
#pragma once

#include <string>

#include "ci/history/check.hpp"
#include "reports/render/table.hpp"

namespace gpusizer::ci {

std::string check_text(const CheckResult& result, const render::Look& look, bool all);
std::string check_json(const CheckResult& result, int exit_code);

// One line per series: how many runs, the last, its noise, its level shifts.
std::string trends_text(const std::vector<Trend>& trends, const render::Look& look);
std::string trends_json(const std::vector<Trend>& trends);  // with every point

}  // namespace gpusizer::ci
