// SPDX-License-Identifier: Apache-2.0
// Numbers are read the same way whatever the machine's language: with a decimal point.
#include "workloads/data/number_cell.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "workloads/data/csv_file.hpp"

namespace gpusizer {

namespace {

constexpr std::array<std::string_view, 7> missing_words{"", "na", "n/a", "nan", "null", "none", "?"};

bool same_in_any_case(std::string_view text, std::string_view lower) {
  return std::equal(text.begin(), text.end(), lower.begin(), lower.end(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b; });
}

}  // namespace

std::optional<double> parse_number(std::string_view cell) {
  std::string_view text = without_blanks(cell);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  if (!whole || !(std::abs(value) <= most_magnitude)) return std::nullopt;
  return value;
}

bool is_missing(std::string_view cell) {
  const std::string_view text = without_blanks(cell);
  return std::any_of(missing_words.begin(), missing_words.end(),
                     [&](std::string_view word) { return same_in_any_case(text, word); });
}

}  // namespace gpusizer
