// SPDX-License-Identifier: Apache-2.0
// Rules: which one holds, and that a misspelt file is refused.
#include "ci/compare/rules.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "ci/compare/compare.hpp"
#include "ci/compare/glob.hpp"
#include "ci/compare/tests/compare_reports.hpp"
#include "gpusizer/error.hpp"

namespace gpusizer::ci {
namespace {

class RulesFile : public testing::Test {
 protected:
  Rules read(const std::string& text) {
    std::ofstream(path_) << text;
    return read_rules(path_);
  }
  ~RulesFile() override { std::filesystem::remove(path_); }

  std::filesystem::path path_ = std::filesystem::temp_directory_path() /
                                ("rules-" + std::to_string(::getpid()) + "-" + testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST(Glob, Matches) {
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("resnet*/b1?/*", "resnet50/synthetic/b16/fp32"));
  EXPECT_FALSE(matches("resnet*", "bert"));
  EXPECT_FALSE(matches("a?", "a"));
  EXPECT_TRUE(matches("*a*b*c", "xxaxxbxxbc"));
}

TEST(BuiltInRules, GateHeadlinesAndTrackTails) {
  const Rules rules = built_in_rules();
  EXPECT_EQ(ruling_for(rules, "a", "throughput").use, Use::gate);
  EXPECT_EQ(ruling_for(rules, "a", "latency_p99_seconds").use, Use::track);
  EXPECT_EQ(ruling_for(rules, "a", "startup_seconds").use, Use::track);
  EXPECT_EQ(ruling_for(rules, "a", "other_cpu_share").use, Use::state);
}

TEST_F(RulesFile, LaterRulesWin) {
  const Rules rules = read(R"({"version": 1, "min_change": 0.02, "fail_on": ["regressed", "missing"], "require": ["a:throughput"],
    "rules": [{"metric": "startup_seconds", "use": "gate", "min_change": 0.1}, {"case": "b*", "use": "track"}]})");
  EXPECT_EQ(ruling_for(rules, "a", "throughput").thresholds.min_change, 0.02);
  EXPECT_EQ(ruling_for(rules, "a", "startup_seconds").use, Use::gate);
  EXPECT_EQ(ruling_for(rules, "a", "startup_seconds").thresholds.min_change, 0.1);
  EXPECT_EQ(ruling_for(rules, "bert", "throughput").use, Use::track);
  EXPECT_EQ(rules.fail_on.size(), 2u);
  EXPECT_EQ(rules.require.size(), 1u);
}

TEST_F(RulesFile, RefusesWhatItDoesNotKnow) {
  for (const char* text : {"", "[]", "{}", R"({"version": 2})", R"({"version": 1, "min_chnage": 0.1})", R"({"version": 1, "min_change": 0})",
                           R"({"version": 1, "min_change": "1%"})", R"({"version": 1, "fail_on": ["slower"]})",
                           R"({"version": 1, "rules": [{"use": "ignore"}]})", R"({"version": 1, "rules": [{"mertic": "a"}]})"}) {
    try {
      read(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::usage) << text;
      EXPECT_NE(std::string(error.what()).find("rules-"), std::string::npos) << error.what();
    }
  }
}

TEST_F(RulesFile, ARuleThatMatchesNothingIsAnError) {
  const Rules rules = read(R"({"version": 1, "rules": [{"metric": "trouhgput", "use": "track"}]})");
  EXPECT_THROW(compare({report_with(0.1)}, {report_with(0.1, 1)}, rules), Error);
}

}  // namespace
}  // namespace gpusizer::ci
