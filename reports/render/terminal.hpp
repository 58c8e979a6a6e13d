// SPDX-License-Identifier: Apache-2.0
// Reports for a terminal: a table of cases that fits the width, then what has to be said about them.
#pragma once

#include <span>
#include <string>

#include "reports/render/report_view.hpp"

namespace gpusizer::render {

// One block per report. Text from the reports cannot steer the terminal; there is no escape character without colours.
std::string render_terminal(std::span<const NamedReport> reports, const Look& look);

}  // namespace gpusizer::render
