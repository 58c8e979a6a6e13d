// SPDX-License-Identifier: Apache-2.0
// Finds the step of a series by trying the regular ones and counting the dates that follow each.
#include "workloads/data/time_step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <unordered_map>

#include "workloads/data/date_text.hpp"

namespace gpusizer {

namespace {

struct CalendarStep {
  const char* name;
  int64_t months, season;
};
constexpr std::array<CalendarStep, 3> calendar_steps{{{"1 month", 1, 12}, {"1 quarter", 3, 4}, {"1 year", 12, 0}}};

struct FixedSeason {
  int64_t step_us, season;
};
constexpr std::array<FixedSeason, 2> fixed_seasons{{{day_us, 7}, {7 * day_us, 52}}};

int64_t day_of(int64_t date_us) { return date_us >= 0 ? date_us / day_us : -((day_us - 1 - date_us) / day_us); }

int64_t month_of(int64_t date_us) {
  const std::chrono::year_month_day date(std::chrono::sys_days(std::chrono::days(day_of(date_us))));
  return int64_t{12} * static_cast<int>(date.year()) + static_cast<unsigned>(date.month());
}

// 0 is Monday.
int64_t weekday_of(int64_t date_us) { return ((day_of(date_us) + 3) % 7 + 7) % 7; }

// How much later `b` is than one step after `a`: 0 when it is one step.
using StepExcess = int64_t (*)(int64_t a, int64_t b, int64_t step);

int64_t fixed_excess(int64_t a, int64_t b, int64_t step_us) { return b - a - step_us; }
int64_t calendar_excess(int64_t a, int64_t b, int64_t months) { return month_of(b) - month_of(a) - months; }
int64_t business_excess(int64_t a, int64_t b, int64_t) { return b - a - (weekday_of(a) == 4 ? 3 : 1) * day_us; }

// Fills in the gaps and returns how many dates follow the step.
int64_t count_gaps(std::span<const int64_t> dates_us, StepExcess excess, int64_t step, TimeStep& found) {
  int64_t regular = 0;
  found.gaps = found.shorter = found.longest_us = 0;
  for (size_t i = 1; i < dates_us.size(); ++i) {
    const int64_t more = excess(dates_us[i - 1], dates_us[i], step);
    regular += more == 0 ? 1 : 0;
    found.shorter += more < 0 ? 1 : 0;
    if (more <= 0) continue;
    ++found.gaps;
    found.longest_us = std::max(found.longest_us, dates_us[i] - dates_us[i - 1]);
  }
  return regular;
}

int64_t most_frequent_step(std::span<const int64_t> dates_us) {
  std::unordered_map<int64_t, int64_t> counts;
  for (size_t i = 1; i < dates_us.size(); ++i) ++counts[dates_us[i] - dates_us[i - 1]];
  // Of two that are equally frequent the shorter, whatever the map's order.
  const auto less = [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second < b.second : a.first > b.first;
  };
  return std::max_element(counts.begin(), counts.end(), less)->first;
}

// A week of dates without a Saturday or Sunday: a market's or an office's days.
bool without_weekends(std::span<const int64_t> dates_us) {
  return dates_us.back() - dates_us.front() >= 7 * day_us &&
         std::all_of(dates_us.begin(), dates_us.end(), [](int64_t date) { return weekday_of(date) < 5; });
}

int64_t season_of(int64_t step_us) {
  if (step_us < day_us) return day_us % step_us == 0 ? day_us / step_us : 0;
  for (const FixedSeason& fixed : fixed_seasons) {
    if (fixed.step_us == step_us) return fixed.season;
  }
  return 0;
}

}  // namespace

TimeStep find_time_step(std::span<const int64_t> dates_us) {
  TimeStep found{.name = "irregular"};
  if (dates_us.size() < 2) return found;
  const auto most = [&](int64_t regular) { return 2 * regular > static_cast<int64_t>(dates_us.size()) - 1; };
  for (const CalendarStep& step : calendar_steps) {
    found.name = step.name;
    found.season = step.season;
    if (most(count_gaps(dates_us, calendar_excess, step.months, found))) return found;
  }
  const int64_t step_us = most_frequent_step(dates_us);
  if (step_us == day_us && without_weekends(dates_us)) {
    found.name = "1 business day";
    found.season = 5;
    if (most(count_gaps(dates_us, business_excess, 0, found))) return found;
  }
  found.name = duration_text(step_us);
  found.season = season_of(step_us);
  if (most(count_gaps(dates_us, fixed_excess, step_us, found))) return found;
  return TimeStep{.name = "irregular"};
}

std::string TimeStep::text() const {
  std::string words = name == "irregular" ? "irregular steps" : fmt::format("steps of {}", name);
  if (gaps == 1) words += fmt::format(", 1 gap (of {})", duration_text(longest_us));
  if (gaps > 1) words += fmt::format(", {} gaps (the longest of {})", gaps, duration_text(longest_us));
  if (shorter > 0) words += fmt::format(", {} shorter", shorter);
  return words;
}

}  // namespace gpusizer
