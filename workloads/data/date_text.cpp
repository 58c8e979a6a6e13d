// SPDX-License-Identifier: Apache-2.0
// Dates by tables: how a date, a time and a zone may be written, in letters that stand for their parts.
#include "workloads/data/date_text.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>

namespace gpusizer {

namespace {

// Y: four digits; M, D, h: one or two; m, s: two; z, n: hours and minutes of a zone; b: the name of a month, three
// letters or whole; f: digits of a fraction; +: a sign. Anything else stands for itself.
constexpr std::array<std::string_view, 8> date_patterns{"Y-M-D",  "Y/M/D", "D.M.Y", "b D Y",
                                                        "b D, Y", "D b Y", "D-b-Y", "Y-M"};
constexpr std::array<std::string_view, 7> clock_patterns{"",       " h:m",     "Th:m",    " h:m:s",
                                                         "Th:m:s", " h:m:s.f", "Th:m:s.f"};
constexpr std::array<std::string_view, 5> zone_patterns{"", "Z", " UTC", "+z:n", "+zn"};
constexpr std::array<std::string_view, 12> month_names{"january",   "february", "march",    "april",
                                                       "may",       "june",     "july",     "august",
                                                       "september", "october",  "november", "december"};

struct DateParts {
  int year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0, fraction_us = 0;
  int zone_sign = 1, zone_hour = 0, zone_minute = 0;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
char lower_case(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Takes fewest .. most digits from the front of `text`.
bool take_digits(std::string_view& text, size_t fewest, size_t most, int& value) {
  size_t count = 0;
  value = 0;
  for (; count < most && count < text.size() && is_digit(text[count]); ++count)
    value = value * 10 + (text[count] - '0');
  text.remove_prefix(count);
  return count >= fewest;
}

bool take_month(std::string_view& text, int& month) {
  size_t letters = 0;
  while (letters < text.size() && lower_case(text[letters]) >= 'a' && lower_case(text[letters]) <= 'z') ++letters;
  for (size_t i = 0; i < month_names.size(); ++i) {
    const std::string_view name = month_names[i];
    if (letters != 3 && letters != name.size()) continue;
    bool same = true;
    for (size_t k = 0; k < letters; ++k) same = same && lower_case(text[k]) == name[k];
    if (!same) continue;
    month = static_cast<int>(i) + 1;
    text.remove_prefix(letters);
    return true;
  }
  return false;
}

bool take_fraction(std::string_view& text, int& fraction_us) {
  size_t count = 0;
  int digit_us = 100'000;
  for (; count < text.size() && is_digit(text[count]); ++count, digit_us /= 10) {
    fraction_us += (text[count] - '0') * digit_us;
  }
  text.remove_prefix(count);
  return count >= 1 && count <= 9;
}

bool take_sign(std::string_view& text, int& sign) {
  if (text.empty() || (text[0] != '+' && text[0] != '-')) return false;
  sign = text[0] == '+' ? 1 : -1;
  text.remove_prefix(1);
  return true;
}

bool take_part(char letter, std::string_view& text, DateParts& parts) {
  switch (letter) {
    case 'Y':
      return take_digits(text, 4, 4, parts.year);
    case 'M':
      return take_digits(text, 1, 2, parts.month);
    case 'D':
      return take_digits(text, 1, 2, parts.day);
    case 'h':
      return take_digits(text, 1, 2, parts.hour);
    case 'm':
      return take_digits(text, 2, 2, parts.minute);
    case 's':
      return take_digits(text, 2, 2, parts.second);
    case 'z':
      return take_digits(text, 2, 2, parts.zone_hour);
    case 'n':
      return take_digits(text, 2, 2, parts.zone_minute);
    case 'b':
      return take_month(text, parts.month);
    case 'f':
      return take_fraction(text, parts.fraction_us);
    case '+':
      return take_sign(text, parts.zone_sign);
    default:
      break;
  }
  if (text.empty() || text[0] != letter) return false;
  text.remove_prefix(1);
  return true;
}

// Takes what `pattern` describes from the front of `text`, or nothing.
bool take_pattern(std::string_view pattern, std::string_view& text, DateParts& parts) {
  std::string_view rest = text;
  DateParts found = parts;
  for (const char letter : pattern) {
    if (!take_part(letter, rest, found)) return false;
  }
  text = rest;
  parts = found;
  return true;
}

std::optional<int64_t> date_of(const DateParts& parts) {
  namespace ch = std::chrono;
  const ch::year_month_day date{ch::year(parts.year), ch::month(static_cast<unsigned>(parts.month)),
                                ch::day(static_cast<unsigned>(parts.day))};
  const bool clock_ok = parts.hour < 24 && parts.minute < 60 && parts.second < 60;
  if (!date.ok() || !clock_ok || parts.zone_hour > 14 || parts.zone_minute > 59) return std::nullopt;
  const int64_t days = ch::sys_days(date).time_since_epoch().count();
  const int64_t zone_us = parts.zone_sign * (parts.zone_hour * hour_us + parts.zone_minute * minute_us);
  return days * day_us + parts.hour * hour_us + parts.minute * minute_us + parts.second * second_us +
         parts.fraction_us - zone_us;
}

// After the date: a clock and a zone, in any of their forms, up to the end of the text.
std::optional<int64_t> finish_date(std::string_view text, const DateParts& date) {
  for (const std::string_view clock : clock_patterns) {
    DateParts with_clock = date;
    std::string_view after_clock = text;
    if (!take_pattern(clock, after_clock, with_clock)) continue;
    for (const std::string_view zone : zone_patterns) {
      DateParts all = with_clock;
      std::string_view rest = after_clock;
      const bool whole = (zone.empty() || !clock.empty()) && take_pattern(zone, rest, all) && rest.empty();
      if (whole) return date_of(all);
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<int64_t> parse_date(std::string_view text) {
  for (const std::string_view pattern : date_patterns) {
    DateParts parts;
    std::string_view rest = text;
    if (!take_pattern(pattern, rest, parts)) continue;
    if (const auto date = finish_date(rest, parts)) return date;
  }
  return std::nullopt;
}

std::string date_text(int64_t date_us) {
  namespace ch = std::chrono;
  const ch::sys_time<ch::microseconds> time{ch::microseconds(date_us)};
  const auto day = ch::floor<ch::days>(time);
  const ch::year_month_day date(day);
  const int64_t clock_us = (time - day).count();
  std::string text = fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                                 static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  if (clock_us != 0) text += fmt::format(" {:02}:{:02}", clock_us / hour_us, clock_us % hour_us / minute_us);
  if (clock_us % minute_us != 0) text += fmt::format(":{:02}", clock_us % minute_us / second_us);
  return text;
}

std::string duration_text(int64_t duration_us) {
  struct Unit {
    int64_t us;
    const char* name;
  };
  constexpr std::array<Unit, 6> units{{{7 * day_us, "week"},
                                       {day_us, "day"},
                                       {hour_us, "hour"},
                                       {minute_us, "minute"},
                                       {second_us, "second"},
                                       {1, "microsecond"}}};
  for (const Unit& unit : units) {
    if (duration_us % unit.us != 0) continue;
    const int64_t count = duration_us / unit.us;
    return fmt::format("{} {}{}", count, unit.name, count == 1 ? "" : "s");
  }
  return {};
}

}  // namespace gpusizer
