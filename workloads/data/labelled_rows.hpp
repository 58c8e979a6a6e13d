// SPDX-License-Identifier: Apache-2.0
// Rows of a table of labelled texts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace gpusizer {

struct LabelledRow {
  std::string first, second;  // the second is empty when the table has one column of text
  std::string label;
  int64_t line = 0;  // in the file, from 1
};

// The rows of a .tsv file (see labelled_text_source.hpp); blank lines are left out. Throws Error(input) with the line.
std::vector<LabelledRow> read_labelled_rows(const std::filesystem::path& file);

// The distinct labels in order: numbers by value when all are whole numbers, else by their bytes.
std::vector<std::string> distinct_labels(const std::vector<LabelledRow>& rows);

}  // namespace gpusizer
