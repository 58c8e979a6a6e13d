// SPDX-License-Identifier: Apache-2.0
// A double as the shortest text that reads back as the same double.
#include "reports/record/number_text.hpp"

#include <array>
#include <charconv>

namespace gpusizer::record {

std::string shortest_text(double value) {
  std::array<char, 32> digits;
  return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr};
}

}  // namespace gpusizer::record
