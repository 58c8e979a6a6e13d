// SPDX-License-Identifier: Apache-2.0
// Reads a CSV file row by row: quoting of RFC 4180; comma, semicolon or tab; every error with its line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace gpusizer {

// The cells point into the file's text: valid as long as the CsvFile is.
struct CsvRow {
  std::vector<std::string_view> cells;  // without their quotes; as many as the header has
  int64_t line = 0;                     // where the row begins, the header being line 1
};

// The whole file is in memory (at most 1 GiB, or an eighth of the memory if that is less). Lines end with LF, CRLF or
// CR; empty lines are skipped; a byte order mark of UTF-8 is skipped. Of comma, semicolon and tab the separator is the
// one that the header has most of. Errors are Fault::input.
class CsvFile {
 public:
  explicit CsvFile(const std::filesystem::path& path);
  CsvFile(const CsvFile&) = delete;
  CsvFile& operator=(const CsvFile&) = delete;

  const std::string& path() const { return path_; }
  char separator() const { return separator_; }
  const std::vector<std::string>& header() const { return header_; }  // without blanks around the names
  // The place of the column called `name`. Throws Error(usage) when there is none, or more than one.
  size_t column(std::string_view name) const;

  // The next row, or false at the end of the file. Refuses rows with more or fewer cells than the header.
  bool next(CsvRow& row);

  // "path, line 7" and "path, line 7, column temp": for errors about what was read.
  std::string where(int64_t line) const;
  std::string where(int64_t line, size_t column) const;

 private:
  void refuse_other_formats() const;
  bool read_cells(CsvRow& row);
  std::string_view plain_cell(const CsvRow& row);
  std::string_view quoted_cell(const CsvRow& row);
  void check_row_length(const CsvRow& row) const;
  void skip_line_end();
  bool at_line_end() const { return next_ == text_.size() || text_[next_] == '\n' || text_[next_] == '\r'; }

  std::string path_;
  std::vector<char> text_;
  size_t next_ = 0;       // the first character that was not read
  size_t row_begin_ = 0;  // of the row being read
  int64_t line_ = 1;      // where next_ is
  char separator_ = ',';
  std::vector<std::string> header_;
};

// Without blanks and tabs at both ends.
std::string_view without_blanks(std::string_view text);

}  // namespace gpusizer
