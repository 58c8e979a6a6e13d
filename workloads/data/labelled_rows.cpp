// SPDX-License-Identifier: Apache-2.0
// Splits lines at tabs and finds the columns by the names in the first line.
#include "workloads/data/labelled_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <string_view>

#include "gpusizer/error.hpp"
#include "workloads/data/data_file.hpp"
#include "workloads/data/utf8.hpp"

namespace gpusizer {

namespace {

struct TextColumns {
  size_t first = 0, label = 0;
  std::optional<size_t> second;

  size_t last() const { return std::max({first, label, second.value_or(0)}); }
};

std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  while (true) {
    const size_t tab = line.find('\t');
    cells.push_back(line.substr(0, tab));
    if (tab == std::string_view::npos) return cells;
    line.remove_prefix(tab + 1);
  }
}

TextColumns find_columns(std::string_view header, const std::string& where) {
  const std::vector<std::string_view> names = cells_of(header);
  const auto place = [&](std::string_view name) -> std::optional<size_t> {
    const auto found = std::find(names.begin(), names.end(), name);
    return found == names.end() ? std::nullopt : std::optional<size_t>(found - names.begin());
  };
  const std::optional<size_t> label = place("label"), text = place("text"), second = place("text_b");
  const std::optional<size_t> first = second ? place("text_a") : text;
  if (!label || !first) {
    throw Error(Fault::input, "the first line does not name the columns", where + ", line 1",
                "expected `text` and `label`, or `text_a`, `text_b` and `label`, with tabs between them");
  }
  return {*first, *label, second};
}

LabelledRow read_row(std::string_view line, const TextColumns& columns, const std::string& where, int64_t number) {
  const std::string place = fmt::format("{}, line {}", where, number);
  const std::vector<std::string_view> cells = cells_of(line);
  if (cells.size() <= columns.last()) {
    throw Error(Fault::input, fmt::format("the row has {} of {} columns", cells.size(), columns.last() + 1), place);
  }
  const std::string_view second = columns.second ? cells[*columns.second] : std::string_view();
  LabelledRow row{std::string(cells[columns.first]), std::string(second), std::string(cells[columns.label]), number};
  if (row.label.empty()) throw Error(Fault::input, "the row has no label", place);
  return row;
}

std::optional<int64_t> whole_number(const std::string& text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

}  // namespace

std::vector<LabelledRow> read_labelled_rows(const std::filesystem::path& file) {
  const std::vector<uint8_t> bytes = read_whole_file(file, most_memory_bytes() / 4);
  std::string_view rest(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (rest.starts_with(byte_order_mark)) rest.remove_prefix(byte_order_mark.size());
  std::vector<LabelledRow> rows;
  std::optional<TextColumns> columns;
  for (int64_t number = 1; !rest.empty(); ++number) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (!columns)
      columns = find_columns(line, file.string());
    else if (!line.empty())
      rows.push_back(read_row(line, *columns, file.string(), number));
  }
  if (rows.empty()) throw Error(Fault::input, "the file has no rows of labelled text", file.string());
  return rows;
}

std::vector<std::string> distinct_labels(const std::vector<LabelledRow>& rows) {
  std::set<std::string> found;
  for (const LabelledRow& row : rows) found.insert(row.label);
  std::vector<std::string> labels(found.begin(), found.end());
  const bool numbers = std::all_of(labels.begin(), labels.end(), [](const auto& l) { return whole_number(l); });
  if (numbers) {
    std::stable_sort(labels.begin(), labels.end(),
                     [](const auto& a, const auto& b) { return *whole_number(a) < *whole_number(b); });
  }
  return labels;
}

}  // namespace gpusizer
