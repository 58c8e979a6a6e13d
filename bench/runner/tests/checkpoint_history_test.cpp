// SPDX-License-Identifier: Apache-2.0
// A run's history as lists and back, and what a resumed report must agree with.
#include "bench/runner/checkpoint_history.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "bench/runner/resumed_report.hpp"
#include "gpusizer/error.hpp"

namespace gpusizer {
namespace {

LoopResult example() {
  LoopResult result;
  result.steps = {
      {.samples = 32, .seconds = 0.1, .data_wait_seconds = 0.01, .bucket = 2, .real_tokens = 900, .padded_tokens = 124},
      {.samples = 5, .seconds = 1.0 / 3, .tail = true}};
  result.losses = {2.25, 0.1 + 0.2};
  result.evaluations.push_back(
      {.after_steps = 1,
       .training_seconds = 0.1,
       .evaluation_seconds = 0.5,
       .evaluation = {.accuracy = 0.75, .loss = 1.5, .outputs = {{"mlm", 0.5}, {"nsp", {}}}, .samples = 7}});
  result.evaluations.push_back(
      {.after_steps = 2, .evaluation = {.loss = 1, .outputs = {{"mlm", 0.25}, {"nsp", 1.0}}, .samples = 7}});
  result.training_seconds = 0.1 + 1.0 / 3;
  result.time_to_target_seconds = 0.6;
  return result;
}

TEST(CheckpointHistory, ComesBackAsItWas) {
  const LoopResult before = example();
  const LoopResult after = result_of(history_of(before), "c");
  ASSERT_EQ(after.steps.size(), 2u);
  EXPECT_EQ(after.steps[0].real_tokens, 900);
  EXPECT_EQ(after.steps[0].bucket, 2);
  EXPECT_TRUE(after.steps[1].tail);
  EXPECT_EQ(after.steps[1].seconds, 1.0 / 3);
  EXPECT_EQ(after.losses, before.losses);
  EXPECT_EQ(after.training_seconds, before.training_seconds);
  EXPECT_EQ(after.time_to_target_seconds, before.time_to_target_seconds);
  ASSERT_EQ(after.evaluations.size(), 2u);
  EXPECT_EQ(after.evaluations[0].evaluation.accuracy, 0.75);
  EXPECT_FALSE(after.evaluations[1].evaluation.accuracy);
  EXPECT_EQ(after.evaluations[0].evaluation.outputs, before.evaluations[0].evaluation.outputs);
  EXPECT_EQ(after.evaluations[1].evaluation.samples, 7);
  EXPECT_TRUE(after.evaluations[1].evaluation.complete);
}

TEST(CheckpointHistory, LossesThatComeLaterAreMissed) {
  LoopResult before = example();
  before.losses.pop_back();
  EXPECT_EQ(result_of(history_of(before), "c").losses, before.losses);
}

TEST(CheckpointHistory, ListsThatDoNotBelongTogetherAreRefused) {
  const auto refused = [](auto spoil) {
    History history = history_of(example());
    spoil(history);
    try {
      result_of(history, "c.safetensors");
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::input);
      EXPECT_EQ(error.where(), "c.safetensors");
    }
  };
  refused([](History& h) { h.erase("loss"); });
  refused([](History& h) { h["loss"].pop_back(); });
  refused([](History& h) { h["step.tail"].push_back(0); });
  refused([](History& h) { h["evaluation.loss"].clear(); });
  refused([](History& h) { h["evaluation.output.mlm"].clear(); });
}

record::Report report_of(std::vector<std::pair<std::string, record::CaseStatus>> cases) {
  record::Report report;
  report.environment.cpu_model = "Example CPU";
  report.environment.cpu_threads = 4;
  report.tool.version = "0.1.0";
  for (const auto& [id, status] : cases) {
    report.cases.emplace_back().id = id;
    report.cases.back().status = status;
  }
  return report;
}

TEST(ResumedReport, InterruptedAndSkippedCasesAreNotDone) {
  using enum record::CaseStatus;
  EXPECT_TRUE(is_done(report_of({{"a", ok}, {"b", failed}, {"c", oom}, {"d", invalid}}), {"a", "b", "c", "d"}));
  EXPECT_FALSE(is_done(report_of({{"a", ok}, {"b", interrupted}}), {"a", "b"}));
  EXPECT_FALSE(is_done(report_of({{"a", ok}, {"b", skipped}}), {"a", "b"}));
  EXPECT_FALSE(is_done(report_of({{"a", ok}}), {"a", "b"}));  // of a run that was killed
}

TEST(ResumedReport, MustBeOfThisRunOnThisMachine) {
  using enum record::CaseStatus;
  const auto begun = report_of({{"a", ok}, {"b", interrupted}});
  const auto why = [&](const std::vector<std::string>& ids, const record::Report& now) -> std::string {
    try {
      require_same_run(begun, ids, now.environment, now.tool);
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::usage);
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(why({"a", "b"}, begun), "");
  EXPECT_EQ(why({"a", "b", "c"}, begun), "");
  EXPECT_NE(why({"a"}, begun).find("case 2 of the report is b"), std::string::npos);
  EXPECT_NE(why({"a", "x"}, begun).find("now gives x"), std::string::npos);
  auto now = begun;
  now.environment.cpu_model = "Other CPU";
  EXPECT_NE(why({"a", "b"}, now).find("'Other CPU'"), std::string::npos);
  now = begun;
  now.environment.cpu_threads = 8;
  EXPECT_NE(why({"a", "b"}, now).find("'8'"), std::string::npos);
  now = begun;
  now.environment.instance = record::Instance{.cloud = "aws", .type = "c7i.xlarge"};
  EXPECT_NE(why({"a", "b"}, now).find("c7i.xlarge"), std::string::npos);
  now = begun;
  now.tool.git_commit = "abc";
  EXPECT_NE(why({"a", "b"}, now).find("commit"), std::string::npos);
}

}  // namespace
}  // namespace gpusizer
