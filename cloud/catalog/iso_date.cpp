// SPDX-License-Identifier: Apache-2.0
// Reading and writing of ISO dates of three precisions.
#include "cloud/catalog/iso_date.hpp"

#include <fmt/format.h>

namespace gpusizer::cloud {
namespace {

// The number in `text` when it is exactly `digits` decimal digits.
std::optional<int> digits_of(std::string_view text, std::size_t digits) {
  if (text.size() != digits) return std::nullopt;
  int value = 0;
  for (char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

}  // namespace

std::optional<std::chrono::sys_days> first_day_of(std::string_view text) {
  if (text.size() != 4 && text.size() != 7 && text.size() != 10) return std::nullopt;
  std::optional<int> year = digits_of(text.substr(0, 4), 4), month = 1, day = 1;
  if (text.size() >= 7) month = text[4] == '-' ? digits_of(text.substr(5, 2), 2) : std::nullopt;
  if (text.size() == 10) day = text[7] == '-' ? digits_of(text.substr(8, 2), 2) : std::nullopt;
  if (!year || !month || !day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year{*year}, std::chrono::month{static_cast<unsigned>(*month)},
                                         std::chrono::day{static_cast<unsigned>(*day)}};
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days{date};
}

std::optional<int> age_days(std::string_view text, std::chrono::sys_days now) {
  const auto day = first_day_of(text);
  if (!day) return std::nullopt;
  return static_cast<int>((now - *day).count());
}

std::string iso_date(std::chrono::sys_days day) {
  const std::chrono::year_month_day date{day};
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()));
}

}  // namespace gpusizer::cloud
