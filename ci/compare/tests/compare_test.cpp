// SPDX-License-Identifier: Apache-2.0
// Verdicts: each of the nine, and what must not be silent.
#include "ci/compare/compare.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "ci/compare/comparison_text.hpp"
#include "ci/compare/tests/compare_reports.hpp"
#include "gpusizer/error.hpp"

namespace gpusizer::ci {
namespace {

using record::Report;
using Reports = std::vector<Report>;

Judgement of(const Comparison& comparison, const std::string& metric, const std::string& case_id = "a") {
  for (const Judgement& j : comparison.judgements)
    if (j.metric == metric && j.case_id == case_id) return j;
  ADD_FAILURE() << "no " << metric;
  return {};
}

Comparison compared(const Reports& base, const Reports& fresh) { return compare(base, fresh, built_in_rules()); }

void expect(const Judgement& j, Verdict verdict, const std::string& reason) {
  EXPECT_EQ(word_of(j.verdict), word_of(verdict)) << j.sentence;
  EXPECT_EQ(j.reason, reason);
  EXPECT_FALSE(j.sentence.empty());
  EXPECT_EQ(j.sentence.back(), '.') << j.sentence;
}

int code(const Comparison& comparison) { return exit_code_of(comparison, built_in_rules(), false); }

TEST(Compare, WorkedExampleOfAStagedTest) {
  const auto one = compared(reports_of(kHistoryMs), reports_of({102.9}, 50));
  expect(of(one, "step_seconds"), Verdict::ambiguous, "needs_more_runs");
  EXPECT_NEAR(*of(one, "step_seconds").p, 0.00145, 1e-5);
  EXPECT_EQ(code(one), 0);
  const auto five = compared(reports_of(kHistoryMs), reports_of(kSlowerMs, 50));
  const Judgement step = of(five, "step_seconds");
  expect(step, Verdict::regressed, "evidence");
  EXPECT_NEAR(100 * *step.change, 2.862, 1e-3);
  EXPECT_NEAR(100 * *step.change_low, 2.033, 1e-3);
  EXPECT_NEAR(100 * *step.change_high, 3.698, 1e-3);
  expect(of(five, "throughput"), Verdict::regressed, "evidence");
  EXPECT_LT(*of(five, "throughput").change, 0);
  EXPECT_EQ(code(five), 1);
  EXPECT_EQ(exit_code_of(five, built_in_rules(), true), 0);
}

TEST(Compare, DirectionComesFromTheMetric) {
  const auto faster = compared(reports_of(kSlowerMs, 50), reports_of(kSlowerMs, 60));
  EXPECT_EQ(code(faster), 0);
  const auto improved = compared(reports_of({103, 103.4, 102.2, 103, 103.6, 103.1, 102.8, 103.2, 102.9, 103.3}), reports_of({99, 99.2, 98.8}, 20));
  expect(of(improved, "step_seconds"), Verdict::improved, "evidence");
  expect(of(improved, "throughput"), Verdict::improved, "evidence");
  EXPECT_EQ(code(improved), 0);
}

TEST(Compare, UnchangedSaysWhatWouldHaveBeenSeen) {
  const auto same = compared(reports_of(kHistoryMs), reports_of({100.1}, 50));
  const Judgement step = of(same, "step_seconds");
  expect(step, Verdict::unchanged, "no_evidence");
  ASSERT_TRUE(step.smallest_visible);
  EXPECT_GT(*step.smallest_visible, 0.02);
  EXPECT_NE(step.sentence.find("would have been seen"), std::string::npos);
}

TEST(Compare, AFileWithItselfIsUnchanged) {
  Report report = report_with(0.1);
  report.cases.push_back(case_with("b", 0.2));
  report.cases.back().status = record::CaseStatus::oom;
  report.cases.back().reason = "it did not fit";
  const auto same = compared({report}, {report});
  EXPECT_EQ(count_of(same, Verdict::unchanged), same.judgements.size());
  EXPECT_EQ(code(same), 0);
}

TEST(Compare, OrderMakesNoDifference) {
  Reports base = reports_of(kHistoryMs), fresh = reports_of(kSlowerMs, 50);
  for (Reports* side : {&base, &fresh})
    for (Report& report : *side) report.cases.push_back(case_with("b", 0.3 + 0.001 * static_cast<double>(report.cases[0].config.seed), 1));
  const auto first = compared(base, fresh);
  std::reverse(base.begin(), base.end());
  std::rotate(fresh.begin(), fresh.begin() + 2, fresh.end());
  for (Report& report : base) {
    std::reverse(report.cases.begin(), report.cases.end());
    for (auto& run : report.cases) std::reverse(run.metrics.begin(), run.metrics.end());
  }
  EXPECT_EQ(comparison_json(first, 1), comparison_json(compared(base, fresh), 1));
}

TEST(Compare, WithoutABaselineEverythingIsNew) {
  const auto first = compared({}, {report_with(0.1)});
  EXPECT_EQ(count_of(first, Verdict::fresh), 2u);
  expect(of(first, "throughput"), Verdict::fresh, "no_baseline");
  EXPECT_EQ(code(first), 0);
}

TEST(Compare, FewRunsAreNotEnough) {
  const auto few = compared({report_with(0.1)}, {report_with(0.11, 1)});
  expect(of(few, "step_seconds"), Verdict::insufficient_data, "too_few_runs");
  EXPECT_EQ(code(few), 0);
  const auto far = compared({report_with(0.1)}, {report_with(0.14, 1)});
  expect(of(far, "step_seconds"), Verdict::regressed, "hard_limit");
  EXPECT_EQ(code(far), 1);
  const auto equal = compared({report_with(0.1)}, {report_with(0.1, 1)});
  expect(of(equal, "step_seconds"), Verdict::unchanged, "equal_values");
}

TEST(Compare, FiveAgainstFiveDecide) {
  const auto moved = compared(reports_of({100, 100.4, 99.7, 100.2, 99.9}), reports_of({107, 107.4, 106.7, 107.2, 106.9}, 20));
  expect(of(moved, "step_seconds"), Verdict::regressed, "evidence");
  EXPECT_TRUE(of(moved, "step_seconds").rank_p);
}

TEST(Compare, CopiesOfARunCountOnce) {
  const auto copies = compared(Reports(20, report_with(0.1)), {report_with(0.11, 1)});
  EXPECT_EQ(of(copies, "step_seconds").base_runs, 1u);
  EXPECT_FALSE(copies.notes.empty());
}

TEST(Compare, ZeroNullAndNegative) {
  const auto with_value = [](std::optional<double> value) {
    Report report = report_with(0.1, 9);
    report.cases[0].metrics[0].value = value;
    report.cases[0].metrics[0].low = report.cases[0].metrics[0].high = {};
    report.cases[0].metrics[0].null_reason = "the steps never settled";
    return report;
  };
  const Reports base = reports_of(kHistoryMs);
  for (const double value : {0.0, -3.0}) expect(of(compared(base, {with_value(value)}), "throughput"), Verdict::failed, "not_positive");
  expect(of(compared(base, {with_value({})}), "throughput"), Verdict::failed, "no_value");
  EXPECT_EQ(code(compared(base, {with_value({})})), 4);
  expect(of(compared({with_value({})}, {report_with(0.1)}), "throughput"), Verdict::fresh, "base_without_value");
  expect(of(compared({with_value(0)}, {report_with(0.1)}), "throughput"), Verdict::incomparable, "base_not_positive");
  Report other = with_value({});
  other.cases[0].config.seed = 3;
  expect(of(compared({with_value({})}, {other}), "throughput"), Verdict::insufficient_data, "no_value_on_both_sides");
}

TEST(Compare, SharesMayBeZeroAndNegative) {
  const auto with_share = [](double value, int number) {
    Report report = report_with(0.1, number);
    report.cases[0].metrics.push_back({.id = "loss", .value = value, .null_reason = "single", .unit = "1", .better = record::Better::lower});
    return report;
  };
  Reports negative;
  for (int i = 0; i < 12; ++i) negative.push_back(with_share(-2 + 0.001 * (i % 5), i));
  expect(of(compared(negative, {with_share(-1.5, 20), with_share(-1.5, 21)}), "loss"), Verdict::regressed, "evidence");
  expect(of(compared({with_share(0, 1)}, {with_share(0, 2)}), "loss"), Verdict::unchanged, "equal_values");
  expect(of(compared({with_share(0, 1)}, {with_share(0.1, 2)}), "loss"), Verdict::incomparable, "zero_base");
}

TEST(Compare, WhatMeansSomethingElseIsNotCompared) {
  const auto changed = [](auto change) {
    Report report = report_with(0.1, 1);
    change(report.cases[0]);
    return report;
  };
  const Reports base = {report_with(0.1)};
  const auto verdict = [&](auto change) { return of(compared(base, {changed(change)}), "throughput"); };
  expect(verdict([](auto& c) { c.metrics[0].unit = "kimages/s"; }), Verdict::incomparable, "unit_changed");
  expect(verdict([](auto& c) { c.metrics[0].better = record::Better::lower; }), Verdict::incomparable, "direction_changed");
  expect(verdict([](auto& c) { c.metrics[0].scope = record::Scope::per_device; }), Verdict::incomparable, "scope_changed");
  expect(verdict([](auto& c) { c.metrics[0].provenance = record::Provenance::emulated; }), Verdict::incomparable, "provenance_changed");
  const Judgement other = verdict([](auto& c) { c.fingerprint.identity["device"] = "H100"; });
  expect(other, Verdict::incomparable, "identity_differs");
  EXPECT_NE(other.sentence.find("device: cpu -> H100"), std::string::npos) << other.sentence;
  EXPECT_EQ(code(compared(base, {changed([](auto& c) { c.fingerprint.identity["device"] = "H100"; })})), 3);
}

TEST(Compare, ARenamedMetricKeepsItsBase) {
  Report renamed = report_with(0.1, 1);
  renamed.cases[0].metrics[0].id = "images_per_second";
  renamed.cases[0].metrics[0].aliases = {"throughput"};
  const auto forward = compared({report_with(0.1)}, {renamed});
  EXPECT_EQ(of(forward, "images_per_second").renamed_from, "throughput");
  expect(of(forward, "images_per_second"), Verdict::unchanged, "equal_values");
  EXPECT_EQ(count_of(forward, Verdict::missing), 0u);
  EXPECT_EQ(of(compared({renamed}, {report_with(0.1)}), "throughput").renamed_from, "images_per_second");
  renamed.cases[0].metrics[0].aliases.clear();
  const auto torn = compared({report_with(0.1)}, {renamed});
  expect(of(torn, "throughput"), Verdict::missing, "metric_vanished");
  expect(of(torn, "images_per_second"), Verdict::fresh, "metric_not_in_base");
}

TEST(Compare, WhatVanishedIsMissing) {
  const auto gone = compared({report_of({case_with("a", 0.1), case_with("b", 0.1)})}, {report_with(0.1, 1)});
  expect(of(gone, "throughput", "b"), Verdict::missing, "case_vanished");
  EXPECT_EQ(code(gone), 0);
  Rules rules = built_in_rules();
  rules.fail_on = parse_verdicts("regressed,missing", "--fail-on");
  EXPECT_EQ(exit_code_of(gone, rules, false), 1);
  rules.require = {"b:*"};
  EXPECT_EQ(exit_code_of(compare({report_with(0.1)}, {report_with(0.1, 1)}, rules), rules, false), 4);
}

TEST(Compare, AFailedCaseIsNoSilence) {
  Report report = report_with(0.1, 1);
  report.cases[0].status = record::CaseStatus::oom;
  report.cases[0].reason = "it did not fit";
  report.cases[0].metrics.clear();
  const auto failed = compared({report_with(0.1)}, {report});
  expect(of(failed, "throughput"), Verdict::failed, "case_oom");
  EXPECT_EQ(code(failed), 4);
  EXPECT_EQ(code(compared({}, {report})), 4);
  report.cases[0].status = record::CaseStatus::skipped;
  expect(of(compared({report_with(0.1)}, {report}), "throughput"), Verdict::missing, "case_skipped");
}

TEST(Compare, AMachineThatWasNotItselfVetoes) {
  const auto vetoed = [](auto change) {
    Reports fresh = reports_of(kSlowerMs, 50), base = reports_of(kHistoryMs);
    for (Report& report : base) report.cases[0].fingerprint.state = {{"sm_clock_mhz", "1980"}};
    for (Report& report : fresh) {
      report.cases[0].fingerprint.state = {{"sm_clock_mhz", "1975"}};
      change(report.cases[0]);
    }
    return of(compared(base, fresh), "step_seconds");
  };
  expect(vetoed([](auto&) {}), Verdict::regressed, "evidence");
  expect(vetoed([](auto& c) { c.fingerprint.state["throttle_reasons"] = "sw_thermal"; }), Verdict::ambiguous, "state_throttle");
  expect(vetoed([](auto& c) { c.fingerprint.state["sm_clock_mhz"] = "1500"; }), Verdict::ambiguous, "state_clocks");
  expect(vetoed([](auto& c) { c.fingerprint.state["ecc_uncorrected"] = "2"; }), Verdict::ambiguous, "state_ecc");
  expect(vetoed([](auto& c) { c.fingerprint.state["other_processes"] = "1"; }), Verdict::ambiguous, "state_other_processes");
  expect(vetoed([](auto& c) { c.fingerprint.state["other_cpu_share"] = "0.50"; }), Verdict::ambiguous, "state_busy");
  expect(vetoed([](auto& c) { c.validity_flags = {{.id = "throttled", .sentence = "It was hot."}}; }), Verdict::ambiguous, "state_throttle");
}

TEST(Compare, WhenEverythingMovesTheEnvironmentIsSuspect) {
  Reports base, fresh;
  for (int i = 0; i < 20; ++i) {
    base.push_back(report_of({}));
    for (const char* id : {"a", "b", "c"}) base.back().cases.push_back(case_with(id, kHistoryMs[static_cast<std::size_t>(i)] / 1000, i));
  }
  for (int i = 0; i < 5; ++i) {
    fresh.push_back(report_of({}));
    for (const char* id : {"a", "b", "c"}) fresh.back().cases.push_back(case_with(id, kSlowerMs[static_cast<std::size_t>(i)] / 1000, 50 + i));
  }
  const auto code_only = compared(base, fresh);
  EXPECT_FALSE(code_only.fleet_shift.empty());
  expect(of(code_only, "throughput", "b"), Verdict::regressed, "evidence");
  for (Report& report : fresh)
    for (auto& run : report.cases) run.fingerprint.environment["library.driver"] = "570.86";
  const auto shifted = compared(base, fresh);
  expect(of(shifted, "throughput", "b"), Verdict::ambiguous, "fleet_shift");
  ASSERT_EQ(shifted.environment.size(), 1u);
  EXPECT_EQ(shifted.environment[0].name, "library.driver");
  EXPECT_EQ(code(shifted), 0);
}

TEST(Compare, SecretsOfAReportAreNotShown) {
  Report report = report_with(0.1, 1);
  report.cases[0].fingerprint.environment["variable.GITHUB_TOKEN"] = "ghp_0123456789abcdef0123456789abcdef0123";
  const auto comparison = compared({report_with(0.1)}, {report});
  EXPECT_EQ(comparison_json(comparison, 0).find("ghp_"), std::string::npos);
  EXPECT_EQ(comparison_text(comparison, {}, true).find("ghp_"), std::string::npos);
}

TEST(Compare, TextNamesTheWorstFirst) {
  const std::string text = comparison_text(compared(reports_of(kHistoryMs), reports_of(kSlowerMs, 50)), {.width = 80}, false);
  EXPECT_NE(text.find("5 new reports against 20: 2 regressed."), std::string::npos) << text;
  EXPECT_NE(text.find("+2.9 %"), std::string::npos) << text;
  EXPECT_NE(text.find("[evidence]"), std::string::npos) << text;
}

}  // namespace
}  // namespace gpusizer::ci
