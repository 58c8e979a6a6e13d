// SPDX-License-Identifier: Apache-2.0
// Bringing the columns of a series to mean 0 and deviation 1, as measured on its training part alone.
#pragma once

#include <vector>

#include "workloads/data/series_table.hpp"

namespace gpusizer {

struct ColumnScaling {
  double mean = 0, deviation = 1;
};

// For each column, over the first `steps` (at least 1). A column that does not change there has deviation 1.
std::vector<ColumnScaling> fit_scaling(const SeriesTable& table, int64_t steps);

// (value - mean) / deviation, steps x columns. Throws Error(input) naming the column and the date of a value that is
// too far from the training part's to be a float.
std::vector<float> scaled_values(const SeriesTable& table, const std::vector<ColumnScaling>& scaling);

}  // namespace gpusizer
