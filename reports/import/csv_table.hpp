// SPDX-License-Identifier: Apache-2.0
// Comma-separated values as rows of text (RFC 4180: quotes, doubled quotes, line ends inside quotes).
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace gpusizer::import {

struct CsvRow {
  std::size_t line = 0;  // on which it begins, from 1
  std::vector<std::string> cells;
};

struct CsvTable {
  std::vector<std::string> columns;
  std::vector<CsvRow> rows;

  // Throws Error(input) naming the column and those that there are.
  std::size_t column(std::string_view name) const;
};

inline constexpr std::size_t most_csv_bytes = 256u << 20u;

// Text of a whole file. A byte order mark is skipped, empty lines are left out. Throws Error(input) for text without a
// heading, with a NUL or an open quote; `origin` names the file in messages.
CsvTable parse_csv(std::string_view text, const std::string& origin);

// Throws Error(input) when the file cannot be read, or is larger than most_csv_bytes.
std::string read_text(const std::filesystem::path& path);

}  // namespace gpusizer::import
