// SPDX-License-Identifier: Apache-2.0
// Tokens and named numbers: there or not there, checked, and kept through JSON.
#include <gtest/gtest.h>

#include <limits>

#include "reports/record/check.hpp"
#include "reports/record/json.hpp"
#include "reports/record/tests/example_report.hpp"

namespace gpusizer::record {
namespace {

TEST(Tokens, MustFollowFromTheRecordedTime) {
  Report report = example_report();
  EXPECT_TRUE(check_report(report).empty());
  report.cases[0].measurement.tokens->tokens_per_second = 64'000.0;  // with the padding
  const auto problems = check_report(report);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].pointer, "/cases/0/measurement/tokens/tokens_per_second");
  report.cases[0].measurement.tokens = Tokens{-1, 0, Maybe<double>::missing("no step was measured"), {}};
  EXPECT_EQ(check_report(report).size(), 1u);
}

TEST(Numbers, AreLeftOutWhenThereAreNone) {
  Report report = example_report();
  report.cases.resize(1);
  report.cases[0].measurement.tokens.reset();
  report.cases[0].training.evaluations[0].outputs.clear();
  report.cases[0].training.baselines.clear();
  const std::string text = to_json(report);
  for (const char* name : {"tokens", "outputs", "baselines"})
    EXPECT_EQ(text.find("\"" + std::string(name) + "\""), std::string::npos) << name;
  EXPECT_EQ(report_from_json(text, "r.json"), report);
}

TEST(Numbers, ThatAreNotFiniteHaveNoValue) {
  Report report = example_report();
  report.cases[0].training.baselines["ratio"] = std::numeric_limits<double>::quiet_NaN();
  const Report again = report_from_json(to_json(report), "r.json");
  EXPECT_EQ(again.cases[0].training.baselines.at("ratio"), std::nullopt);
}

}  // namespace
}  // namespace gpusizer::record
