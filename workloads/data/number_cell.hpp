// SPDX-License-Identifier: Apache-2.0
// One cell of a CSV file as a number, or as a value that is missing.
#pragma once

#include <optional>
#include <string_view>

namespace gpusizer {

// Larger ones are no measurements, and their squares could not be summed.
inline constexpr double most_magnitude = 1e100;

// 12, -0.5, 1.5e3, +7, with blanks around; nothing for all else, infinities and magnitudes over 1e100 included.
std::optional<double> parse_number(std::string_view cell);

// Empty, NA, N/A, NaN, null, none or ?, in any case.
bool is_missing(std::string_view cell);

}  // namespace gpusizer
