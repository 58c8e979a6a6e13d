// SPDX-License-Identifier: Apache-2.0
// The trend page: what it shows, that strangers' names stay text, and that Grafana asks only for what is exported.
#include "ci/dashboards/trend_page.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "ci/export/export.hpp"

namespace gpusizer::ci {
namespace {

Trend example(const std::string& case_id) {
  Trend trend{.key = {.case_id = case_id, .metric = "step_seconds", .environment = "0123456789abcdef", .unit = "s", .better = record::Better::lower}};
  for (int i = 0; i < 40; ++i)
    trend.points.push_back({.time_ms = 1'767'225'600'000 + 86'400'000LL * i, .run = i, .value = (i < 20 ? 0.1 : 0.11) + 0.001 * std::sin(i * i), .commit = "c0ffee0123456"});
  trend.shifts.push_back({.time_ms = trend.points[20].time_ms, .commit = "c0ffee0123456", .before = 0.1, .after = 0.11, .change = 0.1, .worse = true});
  return trend;
}

TEST(TrendPage, ShowsSeriesShiftsAndCommits) {
  const std::string page = trend_page({example("resnet8")}, {.commit_url = "https://example.org/c/"});
  EXPECT_NE(page.find("<polyline"), std::string::npos);
  EXPECT_NE(page.find("+10.0 % at <a href=\"https://example.org/c/c0ffee0123456\">c0ffee0123</a>"), std::string::npos);
  EXPECT_NE(page.find("1 shift to the worse"), std::string::npos);
  EXPECT_EQ(page, trend_page({example("resnet8")}, {.commit_url = "https://example.org/c/"}));
}

TEST(TrendPage, LoadsNothingAndRunsNothing) {
  const std::string page = trend_page({example("<script>alert(1)</script>")}, {});
  for (const char* word : {"<script", "src=", "@import", "url(", "href="}) EXPECT_EQ(page.find(word), std::string::npos) << word;
}

TEST(TrendPage, OfNothingIsAPage) { EXPECT_NE(trend_page({}, {}).find("0 series"), std::string::npos); }

// Metrics that the program writes, as the exporter names them.
TEST(Grafana, AsksOnlyForExportedMetrics) {
  std::set<std::string> known = {"gpusizer_run_timestamp_seconds"};
  for (const auto& [metric, unit] : {std::pair{"throughput", "images/s"}, {"throughput", "sequences/s"}, {"throughput", "samples/s"}, {"step_seconds", "s"},
                                     {"startup_seconds", "s"}, {"model_flops_per_second", "FLOP/s"}, {"other_cpu_share", "1"}})
    known.insert(prometheus_name(metric, unit));
  std::ifstream file(GPUSIZER_GRAFANA);
  const auto board = nlohmann::json::parse(file);
  EXPECT_EQ(board["__inputs"][0]["name"], "DS_PROMETHEUS");
  int queries = 0;
  const std::regex name("gpusizer_[a-z_]+");
  for (const auto& panel : board["panels"])
    for (const auto& target : panel["targets"]) {
      const std::string query = target["expr"];
      ++queries;
      for (std::sregex_iterator it(query.begin(), query.end(), name), end; it != end; ++it) EXPECT_TRUE(known.contains(it->str())) << it->str();
    }
  EXPECT_GE(queries, 4);
}

}  // namespace
}  // namespace gpusizer::ci
