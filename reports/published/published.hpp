// SPDX-License-Identifier: Apache-2.0
// Training throughput that others published for the workloads of this program, compiled into it, each with its source.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/import/published_rows.hpp"

namespace gpusizer::published {

// All measurements, in the order of the file. What they say is "published", never "measured".
std::vector<import::PublishedRow> rows();

// The years that a source is from, as "2018-2024"; empty when the file does not have the source.
std::string years_of(std::string_view source);

// Reads such a file. Throws Error(input) naming `origin` and the entry that is not as it must be.
std::vector<import::PublishedRow> read_rows(std::string_view json, const std::string& origin);

// The text of measurements.json.
std::string_view embedded_measurements_json();

}  // namespace gpusizer::published
