// SPDX-License-Identifier: Apache-2.0
// Reports as GitHub Markdown.
#include "reports/render/markdown.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "reports/render/text.hpp"

namespace gpusizer::render {
namespace {

std::string table_text(const Table& table) {
  std::vector<std::string> headings, rules;
  for (const auto& column : table.columns) {
    headings.push_back(markdown_text(column.heading));
    rules.emplace_back(column.align == Align::right ? "---:" : "---");
  }
  std::string text = markdown_row(headings) + markdown_row(rules);
  for (const auto& row : table.rows) {
    std::vector<std::string> cells;
    for (const auto& cell : row) cells.push_back(markdown_text(cell.text));
    text += markdown_row(cells);
  }
  return text;
}

std::string section(const NamedReport& named) {
  const ReportView view = view_of(named);
  std::string text = fmt::format("### {}\n\n", markdown_text(view.title));
  for (const auto& line : view.circumstances) text += fmt::format("- {}\n", markdown_text(line));
  if (!view.command_line.empty()) text += fmt::format("- repeat: {}\n", markdown_code(view.command_line));
  text += '\n';
  text += view.cases.rows.empty() ? std::string("no cases\n") : table_text(view.cases);
  if (!view.scaling.rows.empty()) text += '\n' + table_text(view.scaling);
  if (!view.inference.rows.empty()) text += '\n' + table_text(view.inference);
  if (!view.notes.empty()) text += '\n';
  for (const auto& about : view.notes) {
    text += fmt::format("- {}\n", markdown_code(about.case_id));
    for (const auto& note : about.notes) text += fmt::format("  - {}\n", markdown_text(note.text));
  }
  return text;
}

// A colon before a slash or a letter could begin a link or an emoji; a usual one stays readable.
bool is_harmless_colon(const std::string& text, std::size_t at) {
  if (at + 1 == text.size()) return true;
  const auto next = static_cast<unsigned char>(text[at + 1]);
  return next == ' ' || std::isdigit(next);
}

}  // namespace

std::string markdown_text(std::string_view untrusted) {
  const std::string clean = printable(untrusted);
  std::string text;
  for (std::size_t at = 0; at < clean.size(); ++at) {
    const char c = clean[at];
    if (c == '<') text += "&lt;";
    else if (c == '>') text += "&gt;";
    else if (c == '&') text += "&amp;";
    else if (c == '@') text += "&#64;";  // no mention of a stranger
    else if (c == ':' && !is_harmless_colon(clean, at)) text += "&#58;";
    else if (c == '.' && at >= 3 && clean.compare(at - 3, 3, "www") == 0) text += "&#46;";
    else if (std::string_view("\\`*_{}[]|#~!$").find(c) != std::string_view::npos) text.append({'\\', c});
    else text += c;
  }
  return text;
}

std::string markdown_code(std::string_view untrusted) {
  std::string code = printable(untrusted);
  std::size_t longest = 0, run = 0;
  for (const char c : code) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  const bool needs_space = code.empty() || code.front() == '`' || code.back() == '`';
  const char* const space = needs_space ? " " : "";
  return fmt::format("{0}{1}{2}{1}{0}", fence, space, code);
}

std::string markdown_row(const std::vector<std::string>& cells) {
  std::string row = "|";
  for (const auto& cell : cells) row += fmt::format(" {} |", cell);
  return row + "\n";
}

std::string render_markdown(std::span<const NamedReport> reports, const Look&) {
  std::string text;
  for (const auto& named : reports) {
    if (!text.empty()) text += '\n';
    text += section(named);
  }
  return text;
}

}  // namespace gpusizer::render
