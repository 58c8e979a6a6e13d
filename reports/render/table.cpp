// SPDX-License-Identifier: Apache-2.0
// Table layout: which columns stay, how wide they are, and the lines that come of it.
#include "reports/render/table.hpp"

#include <algorithm>
#include <numeric>

#include "gpusizer/error.hpp"
#include "reports/render/text.hpp"

namespace gpusizer::render {
namespace {

constexpr std::size_t gap = 2;  // spaces between columns

struct Plan {
  std::vector<std::size_t> shown;   // indices of columns, in order
  std::vector<std::size_t> widths;  // of each column of the table
  std::vector<std::string> left_out;
};

std::size_t total_width(const Plan& plan) {
  std::size_t total = plan.shown.empty() ? 0 : gap * (plan.shown.size() - 1);
  for (const std::size_t column : plan.shown) total += plan.widths[column];
  return total;
}

Table made_printable(const Table& table) {
  Table clean = table;
  for (auto& column : clean.columns) column.heading = printable(column.heading);
  for (auto& row : clean.rows) {
    if (row.size() > table.columns.size()) throw Error(Fault::failed, "a table row has more cells than columns");
    for (auto& cell : row) cell.text = printable(cell.text);
  }
  return clean;
}

std::vector<std::size_t> natural_widths(const Table& table) {
  std::vector<std::size_t> widths;
  for (const auto& column : table.columns) widths.push_back(display_width(column.heading));
  for (const auto& row : table.rows)
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], display_width(row[c].text));
  return widths;
}

// What the shown columns need at least, if every one that may wrap does.
std::size_t smallest_width(const Table& table, const Plan& plan) {
  Plan narrow = plan;
  for (const std::size_t c : narrow.shown)
    if (table.columns[c].min_width) narrow.widths[c] = std::min(narrow.widths[c], table.columns[c].min_width);
  return total_width(narrow);
}

void drop_columns(const Table& table, std::size_t width, Plan& plan) {
  while (smallest_width(table, plan) > width) {
    const auto first = std::max_element(plan.shown.begin(), plan.shown.end(), [&](std::size_t a, std::size_t b) {
      return table.columns[a].drop_order < table.columns[b].drop_order;
    });
    if (first == plan.shown.end() || table.columns[*first].drop_order <= 0) return;
    plan.left_out.push_back(table.columns[*first].heading);
    plan.shown.erase(first);
  }
}

// Takes columns away from the widest of the shown ones, never below `floor_of(column)`.
template <class Floor>
void shrink(Plan& plan, std::size_t width, Floor floor_of) {
  while (total_width(plan) > width) {
    std::size_t* widest = nullptr;
    for (const std::size_t c : plan.shown)
      if (plan.widths[c] > floor_of(c) && (!widest || plan.widths[c] > *widest)) widest = &plan.widths[c];
    if (!widest) return;
    --*widest;
  }
}

Plan fit(const Table& table, std::size_t width) {
  Plan plan{std::vector<std::size_t>(table.columns.size()), natural_widths(table), {}};
  std::iota(plan.shown.begin(), plan.shown.end(), 0u);
  if (width == 0) return plan;
  drop_columns(table, width, plan);
  shrink(plan, width, [&](std::size_t c) {
    return table.columns[c].min_width ? table.columns[c].min_width : plan.widths[c];
  });
  constexpr std::size_t narrowest = 3;  // the last resort: cells are cut
  shrink(plan, width, [](std::size_t) { return narrowest; });
  return plan;
}

// `text` filled up with spaces to `width`; the colour goes around the text alone.
std::string padded(const Cell& cell, std::size_t width, Align align, bool colour) {
  const std::size_t used = display_width(cell.text);
  const std::string space(width > used ? width - used : 0, ' ');
  const std::string text = toned(cell.text, cell.tone, colour);
  return align == Align::right ? space + text : text + space;
}

// Lines of one cell within its column: wrapped if the column may, cut otherwise.
std::vector<std::string> cell_lines(const Column& column, const std::string& text, std::size_t width) {
  if (column.min_width) return wrap_to_width(text, width);
  return {cut_to_width(text, width)};
}

std::string row_text(const Table& table, const std::vector<Cell>& row, const Plan& plan, bool colour) {
  std::vector<std::vector<std::string>> cells;
  std::size_t height = 1;
  for (const std::size_t c : plan.shown) {
    cells.push_back(cell_lines(table.columns[c], c < row.size() ? row[c].text : "", plan.widths[c]));
    height = std::max(height, cells.back().size());
  }
  std::string text;
  for (std::size_t line = 0; line < height; ++line) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::size_t c = plan.shown[i];
      const Cell cell(line < cells[i].size() ? cells[i][line] : "", c < row.size() ? row[c].tone : Tone::plain);
      if (i) text.append(gap, ' ');
      text += padded(cell, plan.widths[c], table.columns[c].align, colour);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  return text;
}

std::string rule(const Plan& plan) {
  std::string line;
  for (std::size_t i = 0; i < plan.shown.size(); ++i)
    line.append(i ? gap : 0, ' ').append(plan.widths[plan.shown[i]], '-');
  return line + '\n';
}

std::string left_out_note(const Plan& plan, std::size_t width) {
  if (plan.left_out.empty()) return "";
  std::string names;
  for (auto name = plan.left_out.rbegin(); name != plan.left_out.rend(); ++name)
    names.append(names.empty() ? "" : ", ").append(*name);
  std::string text;
  for (const auto& line : wrap_to_width("(left out for width: " + names + ")", width)) text += line + '\n';
  return text;
}

}  // namespace

std::string toned(const std::string& text, Tone tone, bool colour) {
  static constexpr const char* codes[] = {"", "\x1b[32m", "\x1b[33m", "\x1b[31m", "\x1b[2m"};
  if (!colour || tone == Tone::plain || text.empty()) return text;
  return codes[static_cast<int>(tone)] + text + "\x1b[0m";
}

std::string layout(const Table& untrusted, const Look& look) {
  const Table table = made_printable(untrusted);
  const Plan plan = fit(table, look.width);
  std::vector<Cell> headings;
  for (const auto& column : table.columns) headings.emplace_back(column.heading);
  std::string text = row_text(table, headings, plan, false) + rule(plan);
  for (const auto& row : table.rows) text += row_text(table, row, plan, look.colour);
  return text + left_out_note(plan, look.width);
}

}  // namespace gpusizer::render
