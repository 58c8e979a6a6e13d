// SPDX-License-Identifier: Apache-2.0
// A series with its level shifts, and where its base begins.
#include <algorithm>
#include <cmath>

#include "ci/changepoint/segmentation.hpp"
#include "ci/history/check.hpp"

namespace gpusizer::ci {
namespace {

constexpr std::size_t kWindow = 100;     // runs that are searched for shifts
constexpr std::size_t kRecent = 10;      // runs within which a shift is news
constexpr std::size_t kSameShift = 5;    // runs by which the place of a shift may wander

bool is_before(const Point& a, const Point& b) { return std::pair(a.time_ms, a.run) < std::pair(b.time_ms, b.run); }

// Also what the metric was called before.
std::vector<Point> all_points(const Index& index, const SeriesKey& key, const std::string& branch, std::size_t most) {
  std::vector<Point> points = index.points(key.id(), branch, most);
  for (const std::string& former : index.former_ids(key.case_id, key.metric)) {
    SeriesKey old = key;
    old.metric = former;
    const auto more = index.points(old.id(), branch, most);
    points.insert(points.end(), more.begin(), more.end());
  }
  std::sort(points.begin(), points.end(), is_before);
  if (points.size() > most) points.erase(points.begin(), points.end() - static_cast<std::ptrdiff_t>(most));
  return points;
}

// The acceptance of a shift is near its place, in runs.
const Acceptance* acceptance_of(const History& history, const Trend& trend, std::size_t at) {
  for (const Acceptance& a : history.acceptances()) {
    if (!is_about(a, trend.key.case_id, trend.key.metric)) continue;
    const auto place = static_cast<std::size_t>(
        std::find_if(trend.points.begin(), trend.points.end(), [&](const Point& p) { return p.time_ms >= a.from_ms; }) - trend.points.begin());
    if (place < trend.points.size() && std::max(place, at) - std::min(place, at) <= kSameShift) return &a;
  }
  return nullptr;
}

LevelShift shift_from(const ChangePoint& point, std::size_t at, const Trend& trend, const History& history) {
  LevelShift shift{.time_ms = trend.points[at].time_ms, .commit = trend.points[at].commit, .before = point.before, .after = point.after,
                   .change = point.change()};
  shift.worse = (trend.key.better == record::Better::lower) == (shift.change > 0);
  shift.recent = trend.points.size() - at <= kRecent;
  if (const Acceptance* a = acceptance_of(history, trend, at)) {
    shift.accepted = !a->false_alarm;
    shift.false_alarm = a->false_alarm;
    shift.author = a->author;
    shift.reason = a->reason;
  }
  return shift;
}

}  // namespace

Trend trend_of(const History& history, const SeriesKey& key, const std::string& branch, std::size_t most, std::span<const Point> fresh) {
  Trend trend{.key = key, .points = all_points(history.index(), key, branch, most)};
  std::erase_if(trend.points, [&](const Point& p) {
    return std::any_of(fresh.begin(), fresh.end(), [&](const Point& f) { return f.run == p.run; });
  });
  const std::size_t old = trend.points.size();
  trend.points.insert(trend.points.end(), fresh.begin(), fresh.end());
  const std::size_t from = trend.points.size() > kWindow ? trend.points.size() - kWindow : 0;
  std::vector<double> values;
  for (std::size_t i = from; i < trend.points.size(); ++i) values.push_back(trend.points[i].value);
  for (const ChangePoint& point : find_change_points(values)) {
    const std::size_t at = from + point.at;
    trend.shifts.push_back(shift_from(point, at, trend, history));
    const LevelShift& shift = trend.shifts.back();
    if ((shift.accepted || (!shift.worse && !shift.false_alarm)) && at < old) trend.base_from = at;
  }
  for (const Acceptance& a : history.acceptances()) {  // also where the shift is not found yet
    if (a.false_alarm || !is_about(a, key.case_id, key.metric)) continue;
    for (std::size_t i = trend.base_from; i < old; ++i)
      if (trend.points[i].time_ms >= a.from_ms) {
        if (i == 0 || trend.points[i - 1].time_ms < a.from_ms) trend.base_from = i;
        break;
      }
  }
  return trend;
}

}  // namespace gpusizer::ci
