// SPDX-License-Identifier: Apache-2.0
// Reports as GitHub Markdown, for a pull request, a job summary or a wiki.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "reports/render/report_view.hpp"

namespace gpusizer::render {

// One section per report. The look is not used: Markdown has neither width nor colours.
std::string render_markdown(std::span<const NamedReport> reports, const Look& look);

// Untrusted text as one line of Markdown text or one table cell: it cannot become markup, HTML, a link or a mention.
std::string markdown_text(std::string_view untrusted);

// Untrusted text as a code span, which nothing in it can end.
std::string markdown_code(std::string_view untrusted);

// A row of a table: cells between bars. The cells must be Markdown already.
std::string markdown_row(const std::vector<std::string>& cells);

}  // namespace gpusizer::render
