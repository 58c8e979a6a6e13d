// SPDX-License-Identifier: Apache-2.0
// Tables and JSON of series.
#include "ci/history/history_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "ci/compare/comparison_text.hpp"
#include "ci/compare/sentences.hpp"
#include "ci/evidence/runs_test.hpp"
#include "reports/record/statistics.hpp"
#include "reports/render/text.hpp"
#include "reports/render/units.hpp"

namespace gpusizer::ci {
namespace {

using render::Align;
using ShownJson = nlohmann::ordered_json;

std::string point_text(double value, const std::string& unit) {
  if (unit == "s" && value > 0) return render::time_text(value);
  if (unit == "B" && value >= 0) return render::bytes_text(value);
  return unit == "1" ? render::significant(value) : render::significant(value) + " " + unit;
}

std::string shift_text(const LevelShift& shift) {
  std::string text = fmt::format("{} at {} {}", signed_percent(shift.change), shift.commit.empty() ? "?" : shift.commit.substr(0, 8), utc_of(shift.time_ms).substr(0, 10));
  if (shift.accepted) text += fmt::format(", accepted by {}: {}", shift.author, shift.reason);
  if (shift.false_alarm) text += fmt::format(", false alarm ({}: {})", shift.author, shift.reason);
  return text;
}

std::vector<double> values_in(const Trend& trend) {
  std::vector<double> values;
  for (const Point& point : trend.points) values.push_back(point.value);
  return values;
}

std::string noise_text(const std::vector<double>& values) {
  if (values.size() < 10) return "-";
  const double centre = std::abs(record::median(values));
  return centre > 0 ? fmt::format("{:.2f} %", 100 * noise_of_neighbours(values) / centre) : "-";
}

// The last 24 runs as bars between their smallest and largest.
std::string bars(const std::vector<double>& values) {
  static constexpr const char* kBars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const std::size_t from = values.size() > 24 ? values.size() - 24 : 0;
  const auto shown = std::span(values).subspan(from);
  if (shown.size() < 2) return "";
  const auto [low, high] = std::minmax_element(shown.begin(), shown.end());
  std::string text;
  for (const double value : shown) text += *high > *low ? kBars[std::min(7, static_cast<int>(8 * (value - *low) / (*high - *low)))] : kBars[3];
  return text;
}

ShownJson shifts_json(const Trend& trend) {
  ShownJson shifts = ShownJson::array();
  for (const LevelShift& s : trend.shifts)
    shifts.push_back({{"from_utc", utc_of(s.time_ms)}, {"commit", s.commit}, {"before", s.before}, {"after", s.after}, {"change", s.change},
                      {"worse", s.worse}, {"recent", s.recent}, {"accepted", s.accepted}, {"false_alarm", s.false_alarm},
                      {"author", s.author}, {"reason", s.reason}});
  return shifts;
}

ShownJson series_json(const Trend& trend) {
  return {{"case", trend.key.case_id}, {"metric", trend.key.metric}, {"unit", trend.key.unit}, {"better", record::to_word(trend.key.better)},
          {"provenance", record::to_word(trend.key.provenance)}, {"identity", trend.key.identity}, {"environment", trend.key.environment},
          {"runs", trend.points.size()}, {"shifts", shifts_json(trend)}};
}

}  // namespace

std::string check_text(const CheckResult& result, const render::Look& look, bool all) {
  std::string text = comparison_text(result.comparison, look, all);
  for (std::size_t i = 0; i < result.trends.size(); ++i)
    for (const LevelShift& shift : result.trends[i].shifts)
      text += render::printable(fmt::format("level shift {} {}: {}", result.trends[i].key.case_id, result.trends[i].key.metric, shift_text(shift))) + "\n";
  if (!result.cases_to_rerun.empty())
    text += fmt::format("{} case{} may have changed: gpusizer history check --emit-rerun prints the runs that decide.\n", result.cases_to_rerun.size(),
                        result.cases_to_rerun.size() == 1 ? "" : "s");
  return text;
}

std::string check_json(const CheckResult& result, int exit_code) {
  ShownJson tree = ShownJson::parse(comparison_json(result.comparison, exit_code));
  tree["schema"] = "gpusizer.history-check/1";
  tree["cases_to_rerun"] = result.cases_to_rerun;
  tree["series"] = ShownJson::array();
  for (const Trend& trend : result.trends) tree["series"].push_back(series_json(trend));
  return tree.dump(2, ' ', false, ShownJson::error_handler_t::replace) + "\n";
}

std::string trends_text(const std::vector<Trend>& trends, const render::Look& look) {
  if (trends.empty()) return "The history has no such series.\n";
  render::Table table{{{"case", Align::left, 0, 16}, {"metric", Align::left, 0, 12}, {"environment", Align::left, 3}, {"runs", Align::right},
                       {"last", Align::right}, {"noise", Align::right, 2}, {"level shifts", Align::left, 0, 16}, {"newest 24", Align::left, 1}}, {}};
  for (const Trend& trend : trends) {
    const std::vector<double> values = values_in(trend);
    std::string shifts;
    for (const LevelShift& shift : trend.shifts) shifts += (shifts.empty() ? "" : "; ") + shift_text(shift);
    table.rows.push_back({trend.key.case_id, trend.key.metric, trend.key.environment.substr(0, 6), std::to_string(values.size()),
                          values.empty() ? "-" : point_text(values.back(), trend.key.unit), noise_text(values), shifts.empty() ? "none" : shifts, bars(values)});
  }
  return render::layout(table, look);
}

std::string trends_json(const std::vector<Trend>& trends) {
  ShownJson all = ShownJson::array();
  for (const Trend& trend : trends) {
    ShownJson series = series_json(trend);
    series["points"] = ShownJson::array();
    for (const Point& p : trend.points) series["points"].push_back({{"utc", utc_of(p.time_ms)}, {"commit", p.commit}, {"value", p.value}});
    all.push_back(series);
  }
  const ShownJson tree = {{"schema", "gpusizer.history/1"}, {"series", all}};
  return tree.dump(2, ' ', false, ShownJson::error_handler_t::replace) + "\n";
}

}  // namespace gpusizer::ci
