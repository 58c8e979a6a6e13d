// SPDX-License-Identifier: Apache-2.0
// New runs against their history: every figure gets a verdict, and every level shift of its series is named.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ci/compare/rules.hpp"
#include "ci/compare/verdict.hpp"
#include "ci/history/history.hpp"

namespace gpusizer::ci {

struct LevelShift {
  std::int64_t time_ms = 0;   // of the first run of the new level
  std::string commit;         // of that run
  double before = 0, after = 0, change = 0;  // change as a share
  bool worse = false, accepted = false, false_alarm = false, recent = false;
  std::string author, reason;  // of the acceptance
};

struct Trend {
  SeriesKey key;
  std::vector<Point> points;        // oldest first
  std::vector<LevelShift> shifts;
  std::size_t base_from = 0;        // the first point that the base of a new run may use
};

// The newest `most` points of the series, those under former ids included, and its level shifts in the last 100.
Trend trend_of(const History& history, const SeriesKey& key, const std::string& branch, std::size_t most,
               std::span<const Point> fresh = {});

struct CheckRequest {
  std::string branch = "main";
  std::string case_pattern = "*", metric_pattern = "*";
};

struct CheckResult {
  Comparison comparison;        // base: up to 30 runs since the last accepted shift or improvement
  std::vector<Trend> trends;    // one for each judgement that has a series, in the same order
  std::vector<std::string> cases_to_rerun;
};

// `fresh`: reports of the runs to check, in the history or not; runs of the same file are not their own base.
//   verdict from decide(), the staged test; besides, a figure is regressed ("level_shift") when a shift to the worse that
//   nobody has accepted happened within its last 10 runs. A series begins anew with another unit, workload, hardware or
//   environment: that is "new" with what differs, and no regression.
CheckResult check(const History& history, const std::vector<record::Report>& fresh, const Rules& rules, const CheckRequest& request);

// A shell line for each of the four runs that decide, from the command of the report; and how to check them together.
std::string rerun_commands(const record::Report& report, const std::string& folder, const std::vector<std::string>& files);

}  // namespace gpusizer::ci
