// SPDX-License-Identifier: Apache-2.0
// Durations, amounts of money and counts as people write them.
#include "reports/sizing/goal_text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string>

#include "gpusizer/error.hpp"

namespace gpusizer::sizing {
namespace {

constexpr double largest_number = 1e12;
constexpr std::int64_t largest_count = 1'000'000'000'000'000;

[[noreturn]] void refuse(std::string_view text, std::string_view flag, const char* what, const char* hint) {
  throw Error(Fault::usage, fmt::format("\"{}\" is not {}", text.substr(0, 60), what), std::string(flag), hint);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// Takes a plain decimal number ("90", "1.5") off the front of `text`; no sign, no exponent, no "inf".
std::optional<double> take_number(std::string_view& text) {
  std::size_t length = 0;
  while (length < text.size() && (is_digit(text[length]) || text[length] == '.')) ++length;
  double value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + length, value, std::chars_format::fixed);
  if (length == 0 || failed != std::errc() || end != text.data() + length) return std::nullopt;
  text.remove_prefix(length);
  return value;
}

std::optional<double> take_unit_seconds(std::string_view& text) {
  std::size_t length = 0;
  while (length < text.size() && !is_digit(text[length]) && text[length] != ' ') ++length;
  const std::string_view unit = text.substr(0, length);
  text.remove_prefix(length);
  if (unit == "s" || unit == "sec") return 1;
  if (unit == "m" || unit == "min") return 60;
  if (unit == "h") return 3600;
  if (unit == "d") return 86400;
  return std::nullopt;
}

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

std::optional<double> money(std::string_view text) {
  text = trimmed(text);
  const bool dollar = take_prefix(text, "$");
  const std::optional<double> value = take_number(text);
  text = trimmed(text);
  const bool unit_ok = text.empty() || (!dollar && (text == "usd" || text == "USD"));
  if (!value || !unit_ok || *value <= 0 || *value > largest_number) return std::nullopt;
  return value;
}

}  // namespace

double parse_duration_seconds(std::string_view text, std::string_view flag) {
  constexpr const char* hint = "write a number above 0 with its unit: 3600s, 90m, 24h, 2d or 1d12h";
  std::string_view rest = trimmed(text);
  double seconds = 0;
  do {
    const std::optional<double> value = take_number(rest);
    rest = trimmed(rest);
    const std::optional<double> unit = value ? take_unit_seconds(rest) : std::nullopt;
    if (!unit) refuse(text, flag, "a duration", hint);
    seconds += *value * *unit;
    rest = trimmed(rest);
  } while (!rest.empty());
  if (seconds <= 0 || seconds > largest_number) refuse(text, flag, "a duration", hint);
  return seconds;
}

double parse_money_usd(std::string_view text, std::string_view flag) {
  const std::optional<double> value = money(text);
  if (!value)
    refuse(text, flag, "an amount of money", "write US dollars above 0 without separators: 100usd, $100 or 0.25");
  return *value;
}

std::int64_t parse_count(std::string_view text, std::string_view flag) {
  constexpr const char* hint = "write digits only, from 1 to 1000000000000000";
  std::int64_t value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || end != text.data() + text.size() || value < 1 || value > largest_count)
    refuse(text, flag, "a count", hint);
  return value;
}

PriceOverride parse_price_override(std::string_view text, std::string_view flag) {
  const auto equals = text.rfind('=');
  const std::string_view name = trimmed(text.substr(0, equals == text.npos ? 0 : equals));
  const std::optional<double> usd = equals == text.npos ? std::nullopt : money(text.substr(equals + 1));
  if (name.empty() || !usd)
    refuse(text, flag, "a price", "write NAME=USD with US dollars per hour above 0: c7i.xlarge=0.20");
  return {std::string(name), *usd};
}

}  // namespace gpusizer::sizing
