// SPDX-License-Identifier: Apache-2.0
// Long series of step times: block means for the report, and the text of the file that holds them all.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reports/record/measurement.hpp"

namespace gpusizer::record {

// Mean of each `block_steps` consecutive values; the last block may be shorter. block_steps is at least 1.
std::vector<double> block_means(std::span<const double> values, std::size_t block_steps);

// One number per line in its shortest exact form.
std::string series_text(std::span<const double> values);

// Throws Error(Fault::input) naming `file_name` and the line of anything that is not a time above 0.
std::vector<double> series_from_text(std::string_view text, const std::string& file_name);

// The measurement with its step times moved out: block means and a description of the file named
// "<stem>.steps-<hash>.txt" in their place. The name comes from the content, so a series is never overwritten by another.
struct MovedSeries {
  Measurement measurement;
  std::string text;
};
MovedSeries move_series_out(Measurement measurement, const std::string& stem);

// The measurement with its step times read from the file beside the report in `folder` and checked against SHA-256,
// bytes and steps. Throws Error(Fault::input) when the file is missing, changed, or named outside of the folder.
Measurement load_series(Measurement measurement, const std::filesystem::path& folder);

}  // namespace gpusizer::record
