// SPDX-License-Identifier: Apache-2.0
// One pass over the text, a cell at a time.
#include "reports/import/csv_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "gpusizer/error.hpp"

namespace gpusizer::import {
namespace {

class CsvReader {
 public:
  CsvReader(std::string_view text, const std::string& origin) : text_(text), origin_(origin) {}

  bool at_end() const { return at_ >= text_.size(); }

  CsvRow row() {
    CsvRow row{line_, {}};
    while (true) {
      row.cells.push_back(cell());
      if (at_end()) return row;
      const char separator = text_[at_++];
      if (separator == ',') continue;
      if (separator == '\r' && !at_end() && text_[at_] == '\n') ++at_;
      ++line_;
      return row;
    }
  }

 private:
  std::string cell() { return !at_end() && text_[at_] == '"' ? quoted() : plain(); }

  std::string plain() {
    const std::size_t end = std::min(text_.find_first_of(",\r\n", at_), text_.size());
    std::string value(text_.substr(at_, end - at_));
    at_ = end;
    return value;
  }

  std::string quoted() {
    const std::size_t opened = line_;
    std::string value;
    for (++at_; !at_end(); ++at_) {
      if (text_[at_] == '\n') ++line_;
      if (text_[at_] != '"') {
        value += text_[at_];
      } else if (at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
        value += text_[at_++];
      } else {
        ++at_;
        return value + plain();  // what follows the closing quote, if anything, belongs to the cell
      }
    }
    throw Error(Fault::input, "a quoted cell does not end", fmt::format("{}:{}", origin_, opened), "close the quote");
  }

  std::string_view text_;
  const std::string& origin_;
  std::size_t at_ = 0, line_ = 1;
};

bool is_empty(const CsvRow& row) { return row.cells.size() == 1 && row.cells[0].empty(); }

}  // namespace

std::size_t CsvTable::column(std::string_view name) const {
  const auto it = std::find(columns.begin(), columns.end(), name);
  if (it != columns.end()) return static_cast<std::size_t>(it - columns.begin());
  throw Error(Fault::input, fmt::format("the table has no column '{}', only {}", name, fmt::join(columns, ", ")), "",
              "add the column to the heading");
}

CsvTable parse_csv(std::string_view text, const std::string& origin) {
  if (text.find('\0') != std::string_view::npos)
    throw Error(Fault::input, "the file is not text: it has a NUL byte", origin, "give a CSV file");
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  CsvReader reader(text, origin);
  CsvTable table;
  while (!reader.at_end()) {
    CsvRow row = reader.row();
    if (is_empty(row)) continue;
    if (table.columns.empty()) table.columns = std::move(row.cells);
    else table.rows.push_back(std::move(row));
  }
  if (table.columns.empty()) throw Error(Fault::input, "the table is empty", origin, "give a CSV file with a heading");
  return table;
}

std::string read_text(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) throw Error(Fault::input, "it is a folder", path.string(), "give a file");
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(Fault::input, "the file cannot be opened", path.string(), "check its name and permissions");
  std::string text;
  char block[1 << 16];
  while (file.read(block, sizeof block) || file.gcount() > 0) {
    text.append(block, static_cast<std::size_t>(file.gcount()));
    if (text.size() > most_csv_bytes)
      throw Error(Fault::input, "the file is larger than 256 MiB", path.string(), "give a part of it");
  }
  return text;
}

}  // namespace gpusizer::import
