// SPDX-License-Identifier: Apache-2.0
// Reports for a terminal.
#include "reports/render/terminal.hpp"

#include <algorithm>

#include "reports/render/text.hpp"

namespace gpusizer::render {
namespace {

struct Indent {
  std::size_t first = 0, others = 2;  // columns before the first line, and before the lines that wrapped
};

std::string paragraph(const std::string& text, const Look& look, Tone tone, Indent indent = {}) {
  constexpr std::size_t narrowest = 20;
  const std::size_t width = look.width ? std::max(look.width, narrowest + indent.others) - indent.others : 0;
  std::string result;
  for (const auto& line : wrap_to_width(printable(text), width)) {
    result.append(result.empty() ? indent.first : indent.others, ' ');
    result += toned(line, tone, look.colour) + '\n';
  }
  return result;
}

std::string report_text(const NamedReport& named, const Look& look) {
  const ReportView view = view_of(named);
  std::string text = paragraph(view.title, look, Tone::plain);
  for (const auto& line : view.circumstances) text += paragraph(line, look, Tone::faint);
  if (!view.command_line.empty()) text += paragraph(std::string("repeat: ").append(view.command_line), look, Tone::faint);
  text += '\n';
  text += view.cases.rows.empty() ? std::string("no cases\n") : layout(view.cases, look);
  if (!view.scaling.rows.empty()) text += '\n' + layout(view.scaling, look);
  if (!view.inference.rows.empty()) text += '\n' + layout(view.inference, look);
  if (!view.notes.empty()) text += '\n';
  for (const auto& about : view.notes) {
    text += paragraph(about.case_id, look, Tone::plain);
    for (const auto& note : about.notes) text += paragraph(note.text, look, note.tone, {2, 4});
  }
  return text;
}

}  // namespace

std::string render_terminal(std::span<const NamedReport> reports, const Look& look) {
  std::string text;
  for (const auto& named : reports) {
    if (!text.empty()) text += '\n';
    text += report_text(named, look);
  }
  return text;
}

}  // namespace gpusizer::render
