// SPDX-License-Identifier: Apache-2.0
// "Did you mean ...": the known names that look most like a mistyped one.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpusizer::cloud {

// Lower-case copy, ASCII letters only.
std::string lower_case(std::string_view text);
// Whether two names are the same but for the case of their letters.
inline bool same_name(std::string_view a, std::string_view b) { return lower_case(a) == lower_case(b); }

// Up to `count` distinct names of `known`, nearest first by edit distance without regard to case (ties: alphabetical).
// Names that differ in more than half of their letters are not offered.
std::vector<std::string> nearest_names(std::string_view text, std::span<const std::string> known, std::size_t count);

}  // namespace gpusizer::cloud
