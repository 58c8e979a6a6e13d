// SPDX-License-Identifier: Apache-2.0
// A time series read from a CSV file: which columns and rows are taken, dates checked, missing values filled.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "workloads/data/time_step.hpp"

namespace gpusizer {

// Empty leaves the choice to the file.
struct SeriesColumns {
  std::string date;                   // default: the first column whose first value is a date (see parse_date)
  std::vector<std::string> features;  // default: every named column whose first value is a number
  std::vector<std::string> targets;   // default: the first feature
  std::string rows;                   // "symbol=MSFT": only rows with this value in this column
};

// Row-major steps x columns: the features first, then the targets that are no features.
struct SeriesTable {
  std::string location;
  std::vector<std::string> columns;
  int64_t features = 0;               // the first of the columns
  std::vector<int64_t> targets;       // places in `columns`
  std::vector<int64_t> dates_us;      // ascending
  std::vector<double> values;         // finite
  int64_t filled = 0;                 // values that were missing and repeat the one before
  int64_t dropped = 0;                // rows at the start, before every column has a value
  std::vector<std::string> left_out;  // named columns that were not asked for and do not begin with a number
  TimeStep step;

  int64_t steps() const { return static_cast<int64_t>(dates_us.size()); }
};

// Missing is an empty cell, NA, N/A, NaN, null, none or ?, in any case. Filling looks back only, never ahead.
// Throws Error: usage for columns or rows that are not there; input, with line and column, for a value that is no
// number or no date, and for dates that do not ascend.
SeriesTable read_series_table(const std::filesystem::path& path, const SeriesColumns& wanted);

}  // namespace gpusizer
