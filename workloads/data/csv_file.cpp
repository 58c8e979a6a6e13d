// SPDX-License-Identifier: Apache-2.0
// The reading of CSV: one pass over the text, quoted cells unpacked where they stand.
#include "workloads/data/csv_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "gpusizer/error.hpp"
#include "workloads/data/data_file.hpp"

namespace gpusizer {

namespace {

constexpr int64_t most_csv_file_bytes = int64_t{1} << 30;
constexpr size_t most_row_bytes = size_t{1} << 20;
constexpr std::array csv_separators{',', ';', '\t'};

std::vector<char> read_csv_text(const std::filesystem::path& path) {
  const std::vector<uint8_t> bytes = read_whole_file(path, std::min(most_csv_file_bytes, most_memory_bytes() / 4));
  return {bytes.begin(), bytes.end()};
}

bool text_begins_with(const std::vector<char>& text, std::string_view start) {
  return std::string_view(text.data(), text.size()).starts_with(start);
}

// Quoted separators do not count. A header of one column has none: the comma then does no harm.
char find_csv_separator(std::string_view text) {
  std::array<int, csv_separators.size()> counts{};
  bool quoted = false;
  for (const char c : text.substr(0, most_row_bytes)) {
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '\n' || c == '\r') break;
    for (size_t i = 0; i < counts.size(); ++i) counts[i] += c == csv_separators[i] ? 1 : 0;
  }
  return csv_separators[static_cast<size_t>(std::max_element(counts.begin(), counts.end()) - counts.begin())];
}

}  // namespace

std::string_view without_blanks(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

CsvFile::CsvFile(const std::filesystem::path& path) : path_(path.string()), text_(read_csv_text(path)) {
  refuse_other_formats();
  if (text_begins_with(text_, "\xef\xbb\xbf")) next_ = 3;
  while (next_ < text_.size() && at_line_end()) skip_line_end();
  separator_ = find_csv_separator({text_.data() + next_, text_.size() - next_});
  CsvRow names;
  if (!read_cells(names)) throw Error(Fault::input, "the file is empty", path_, "expected a line of column names");
  for (const std::string_view name : names.cells) header_.emplace_back(without_blanks(name));
}

void CsvFile::refuse_other_formats() const {
  if (text_begins_with(text_, "\x1f\x8b")) throw Error(Fault::input, "the file is packed", path_, "unpack it: gunzip");
  if (text_begins_with(text_, "\xff\xfe") || text_begins_with(text_, "\xfe\xff"))
    throw Error(Fault::input, "the file is UTF-16", path_, "convert it: iconv -f UTF-16 -t UTF-8");
  const auto zero = std::find(text_.begin(), text_.end(), '\0');
  if (zero != text_.end())
    throw Error(Fault::input, fmt::format("byte {} is NUL: this is no text", zero - text_.begin()), path_);
}

size_t CsvFile::column(std::string_view name) const {
  const auto found = std::find(header_.begin(), header_.end(), name);
  if (found == header_.end()) {
    throw Error(Fault::usage, fmt::format("there is no column `{}`", name), path_,
                fmt::format("the columns are {:.400}", fmt::format("{}", fmt::join(header_, ", "))));
  }
  if (std::find(found + 1, header_.end(), name) != header_.end())
    throw Error(Fault::usage, fmt::format("there is more than one column `{}`", name), path_, "rename one of them");
  return static_cast<size_t>(found - header_.begin());
}

bool CsvFile::next(CsvRow& row) {
  if (!read_cells(row)) return false;
  if (row.cells.size() != header_.size()) {
    throw Error(Fault::input,
                fmt::format("the row has {} cells, but the header names {} columns", row.cells.size(), header_.size()),
                where(row.line));
  }
  return true;
}

std::string CsvFile::where(int64_t line) const { return fmt::format("{}, line {}", path_, line); }

std::string CsvFile::where(int64_t line, size_t column) const {
  const std::string& name = header_[column];
  return fmt::format("{}, column {}", where(line), name.empty() ? fmt::format("number {}", column + 1) : name);
}

bool CsvFile::read_cells(CsvRow& row) {
  while (next_ < text_.size() && at_line_end()) skip_line_end();
  if (next_ == text_.size()) return false;
  row.cells.clear();
  row.line = line_;
  row_begin_ = next_;
  while (true) {
    const bool quoted = next_ < text_.size() && text_[next_] == '"';
    row.cells.push_back(quoted ? quoted_cell(row) : plain_cell(row));
    if (at_line_end()) break;
    ++next_;  // the separator
  }
  skip_line_end();
  return true;
}

std::string_view CsvFile::plain_cell(const CsvRow& row) {
  const size_t begin = next_;
  while (!at_line_end() && text_[next_] != separator_) ++next_;
  check_row_length(row);
  return {text_.data() + begin, next_ - begin};
}

// A quote inside is written twice. What is kept moves to the front, so the cell needs no memory of its own.
std::string_view CsvFile::quoted_cell(const CsvRow& row) {
  const size_t begin = ++next_;
  size_t end = begin;
  for (;; ++next_) {
    check_row_length(row);
    if (next_ == text_.size()) throw Error(Fault::input, "a quote is opened and never closed", where(row.line));
    if (text_[next_] == '"' && (++next_ == text_.size() || text_[next_] != '"')) break;
    if (text_[next_] == '\n') ++line_;
    text_[end++] = text_[next_];
  }
  if (!at_line_end() && text_[next_] != separator_)
    throw Error(Fault::input, "text follows a closing quote", where(row.line), "a quote inside quotes is written \"\"");
  return {text_.data() + begin, end - begin};
}

void CsvFile::check_row_length(const CsvRow& row) const {
  if (next_ - row_begin_ <= most_row_bytes) return;
  throw Error(Fault::input, fmt::format("the row that begins here is longer than {} bytes", most_row_bytes),
              where(row.line), "is this a CSV file, and is every quote closed?");
}

void CsvFile::skip_line_end() {
  if (next_ == text_.size()) return;
  const bool two = text_[next_] == '\r' && next_ + 1 < text_.size() && text_[next_ + 1] == '\n';
  next_ += two ? 2 : 1;
  ++line_;
}

}  // namespace gpusizer
