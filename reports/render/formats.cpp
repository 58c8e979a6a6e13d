// SPDX-License-Identifier: Apache-2.0
// The table of report formats.
#include "reports/render/formats.hpp"

#include <array>

#include "gpusizer/error.hpp"
#include "reports/render/markdown.hpp"
#include "reports/render/terminal.hpp"

namespace gpusizer::render {
namespace {

constexpr std::array<Format, 2> table = {{
    {"terminal", "a table that fits the terminal", render_terminal},
    {"markdown", "GitHub Markdown", render_markdown},
}};

}  // namespace

std::span<const Format> formats() { return table; }

const Format& format_named(const std::string& name) {
  std::string known;
  for (const Format& format : table) {
    if (format.name == name) return format;
    known.append(known.empty() ? "" : ", ").append(format.name);
  }
  throw Error(Fault::usage, "there is no report format \"" + name + "\"", "--format", "the formats are: " + known);
}

}  // namespace gpusizer::render
