// SPDX-License-Identifier: Apache-2.0
// How throughput grew with the ranks: one row for each layout.
#pragma once

#include <string>

#include "reports/record/record.hpp"
#include "reports/render/table.hpp"

namespace gpusizer::render {

// Rows for the cases with ranks and for those that they are compared with, in the order of the report; none where no case
// has ranks. What is the same in all rows has no column.
Table scaling_table(const record::Report& report);

// "1.90 ± 0.04", with the wider side of the interval.
std::string ratio_text(const record::Ratio& ratio);

// "sharded, recompute": what a layout does beside its ranks; empty for the usual.
std::string layout_words(const record::Parallel& parallel);

}  // namespace gpusizer::render
