// SPDX-License-Identifier: Apache-2.0
// Cases on several ranks through the whole runner: the losses of one rank, faults that end a case and no more,
// checkpoints that any layout can go on from.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "bench/runner/case_runner.hpp"
#include "bench/runner/rank_place.hpp"
#include "workloads/checkpoint/checkpoint_folder.hpp"

namespace gpusizer {
namespace {

namespace fs = std::filesystem;

CaseConfig small_bert() {
  CaseConfig config;
  config.model = "bert-mini";
  config.options = {.layers = 2, .hidden = 16, .heads = 2, .vocabulary = 100, .sequence = 8};
  config.options.dropout = 0;
  config.batch = 8;
  config.steps = 6;
  config.optimizer = "sgd";
  config.schedule = "constant";
  config.lr = 0.1;
  config.threads = 1;
  return config;
}

CaseConfig small_lstm() {
  CaseConfig config;
  config.model = "lstm";
  config.options = {.layers = 2, .hidden = 8, .window = 6, .horizon = 2, .features = 3};
  config.batch = 8;
  config.steps = 6;
  config.lr = 0.01;
  config.synthetic_samples = 44;  // the last batch of an epoch has 4
  config.schedule = "constant";
  config.threads = 1;
  return config;
}

// The same job by dp replicas, which share the batch.
CaseConfig in_layout(CaseConfig config, std::int64_t dp, std::int64_t pp = 1, std::int64_t tp = 1) {
  config.parallel.dp = dp;
  config.parallel.pp = pp;
  config.parallel.tp = tp;
  config.parallel.dp_given = true;
  config.parallel.comm_timeout_seconds = 20;
  config.batch = *config.batch / dp;
  return config;
}

record::Case run_ranks(const CaseConfig& config, bool resumed = false) {
  const CaseConfig complete = complete_case(config);
  return run_case(complete, case_id(complete), {.environment = {}, .tool = {}, .stop = [] { return 0; }, .progress = {},
                                                .resumed = resumed});
}

std::vector<double> losses_of(const record::Case& record) {
  EXPECT_EQ(record.status, record::CaseStatus::ok) << record.reason;
  std::vector<double> losses;
  for (const auto& point : record.training.loss_curve) losses.push_back(*point.loss);
  return losses;
}

void expect_same_losses(const CaseConfig& one, const CaseConfig& other) {
  const auto expected = losses_of(run_ranks(one)), got = losses_of(run_ranks(other));
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-4 * std::abs(expected[i])) << i;
}

TEST(Ranks, ReplicasLearnWhatOneRankLearns) {
  expect_same_losses(small_bert(), in_layout(small_bert(), 2));
  expect_same_losses(small_lstm(), in_layout(small_lstm(), 4));  // tails too
  CaseConfig sharded = in_layout(small_bert(), 2);
  sharded.parallel.sharded = true;
  expect_same_losses(small_bert(), sharded);
}

TEST(Ranks, StagesAndSlicesLearnWhatOneRankLearns) {
  CaseConfig staged = in_layout(small_bert(), 2, 2);
  staged.accumulate = 2;
  expect_same_losses(small_bert(), staged);
  expect_same_losses(small_bert(), in_layout(small_bert(), 1, 1, 2));
  CaseConfig again = small_bert();
  again.parallel.recompute = true;
  again.accumulate = 4;
  expect_same_losses(small_bert(), again);
}

TEST(Ranks, EvaluateEverySampleOnce) {
  CaseConfig one = small_lstm();
  one.steps.reset();
  one.epochs = 1;
  one.eval = true;
  const record::Case alone = run_ranks(one);
  for (const auto& layout : {in_layout(one, 2), in_layout(one, 1, 2)}) {
    const record::Case record = run_ranks(layout);
    ASSERT_EQ(record.training.evaluations.size(), 1u) << record.reason;
    const auto &got = record.training.evaluations[0], &expected = alone.training.evaluations[0];
    EXPECT_EQ(got.samples, expected.samples);
    EXPECT_NEAR(*got.loss, *expected.loss, 1e-4 * *expected.loss);
    EXPECT_NEAR(*got.outputs.at("mae"), *expected.outputs.at("mae"), 1e-4);
  }
}

TEST(Ranks, JobThroughputCountsEachReplicaOnce) {
  const record::Case record = run_ranks(in_layout(small_lstm(), 2, 2));
  ASSERT_EQ(record.status, record::CaseStatus::ok) << record.reason;
  EXPECT_EQ(record.config.replicas, 2);
  EXPECT_EQ(record.config.devices, 4);
  EXPECT_LE(record.measurement.samples, record.measurement.measured_steps * 8);  // not times the stages
  ASSERT_TRUE(record.communication);
  EXPECT_EQ(record.communication->rank_step_seconds.size(), 4u);
  EXPECT_FALSE(record.communication->bucket_bytes.empty());
  EXPECT_GT(*record.communication->all_reduces.front().seconds, 0);
}

TEST(Ranks, ATailTooSmallForAllReplicasIsLeftOutAndSaid) {
  CaseConfig config = in_layout(small_lstm(), 4);
  config.synthetic_samples = 19;
  const record::Case record = run_ranks(config);
  ASSERT_EQ(record.status, record::CaseStatus::ok) << record.reason;
  EXPECT_EQ(record.measurement.tail_steps, 0);
  EXPECT_EQ(record.validity_flags.front().id, "samples_left_out");
}

TEST(Ranks, AFaultEndsTheCaseWithRankAndStepAndTheNextOneRuns) {
  for (const char* kind : {"throw", "stall"}) {
    CaseConfig config = in_layout(small_lstm(), 2);
    config.parallel.comm_timeout_seconds = 1;
    config.parallel.fault = FaultOptions{kind, 1, 5};
    const record::Case record = run_ranks(config);
    EXPECT_EQ(record.status, record::CaseStatus::failed) << kind;
    EXPECT_NE(record.reason.find("rank 1"), std::string::npos) << record.reason;
    EXPECT_NE(record.reason.find("4"), std::string::npos) << record.reason;
    EXPECT_GE(record.measurement.step_seconds.size(), 3u) << kind;  // what was finished stays
    config.parallel.fault.reset();
    EXPECT_EQ(run_ranks(config).status, record::CaseStatus::ok);
  }
}

TEST(Ranks, ALossThatIsNoNumberStopsAllAtTheSameStep) {
  CaseConfig config = in_layout(small_lstm(), 2);
  config.parallel.fault = FaultOptions{"nan", 1, 3};
  const record::Case record = run_ranks(config);
  EXPECT_EQ(record.status, record::CaseStatus::invalid);
  EXPECT_EQ(*record.training.non_finite_step, 3);
}

TEST(Ranks, EndWithTheLeaderWhenItHasSeenEnough) {
  CaseConfig config = in_layout(small_lstm(), 2);
  config.steps.reset();
  config.synthetic_samples = 0;
  config.max_seconds = 0.2;
  const record::Case record = run_ranks(config);
  EXPECT_NE(record.measurement.stop_reason, "error");
  EXPECT_EQ(record.reason, "");
}

TEST(Ranks, LocalStepsAverageTheirWeights) {
  CaseConfig config = in_layout(small_lstm(), 2);
  config.parallel.mode = "local_sgd";
  config.parallel.period = 1;
  config.optimizer = "sgd";
  config.momentum = 0;
  config.synthetic_samples = 64;
  CaseConfig one = config;
  one.parallel = {};
  one.batch = 8;
  // Without momentum, averaging after every step is the same as averaging gradients.
  expect_same_losses(one, config);
}

TEST(Ranks, LocalStepsGoOnFromACheckpointAsIfNothingHadBeen) {
  const fs::path folder = fs::temp_directory_path() / "gpusizer_local_ranks_test";
  fs::remove_all(folder);
  fs::create_directories(folder / "undisturbed");
  CaseConfig config = in_layout(small_lstm(), 2);  // adam, whose state is each rank's own between two checkpoints
  config.parallel.mode = "local_sgd";
  config.parallel.period = 2;
  config.steps = 9;
  config.checkpoint_every = 3;
  config.checkpoint = folder / "undisturbed";
  const auto expected = losses_of(run_ranks(config));
  ASSERT_EQ(expected.size(), 9u);
  config.checkpoint = folder;
  CaseConfig begun = config;
  begun.parallel.fault = FaultOptions{"throw", 1, 8};
  EXPECT_EQ(run_ranks(begun).status, record::CaseStatus::failed);
  config.checkpoint_of = case_id(complete_case(begun));
  EXPECT_EQ(losses_of(run_ranks(config, true)), expected);
  fs::remove_all(folder);
}

CaseConfig late_steps(CaseConfig config, std::int64_t dp, std::int64_t staleness) {
  config = in_layout(std::move(config), dp);
  config.parallel.mode = "async";
  config.parallel.staleness = staleness;
  return config;
}

TEST(Ranks, AsynchronousStepsWithoutStalenessAreSynchronous) {
  expect_same_losses(small_lstm(), late_steps(small_lstm(), 2, 0));  // tails too
}

TEST(Ranks, AsynchronousStepsLearnLater) {
  CaseConfig config = late_steps(small_lstm(), 2, 2);
  config.optimizer = "sgd";
  CaseConfig still = config;
  still.lr = 1e-30;  // too little to change a weight
  const record::Case record = run_ranks(config);
  const auto got = losses_of(record), untrained = losses_of(run_ranks(still));
  ASSERT_EQ(got.size(), 6u) << "the last steps' losses are told too";
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(got[i], untrained[i]) << "two steps have nothing to update with";
  for (std::size_t i = 3; i < 6; ++i) EXPECT_NE(got[i], untrained[i]);
  EXPECT_EQ(record.config.parallel->mode, "async");
  EXPECT_EQ(record.config.parallel->staleness, 2);
  EXPECT_GT(record.communication->bucket_bytes.at(0), 0);
  EXPECT_EQ(record.communication->bucket_bytes.size(), 1u);
}

TEST(Ranks, AsynchronousRanksEndTogetherWhereNothingButTimeEndsThem) {
  CaseConfig config = late_steps(small_lstm(), 2, 3);
  config.steps.reset();
  config.synthetic_samples = 0;
  config.max_seconds = 0.1;
  const record::Case record = run_ranks(config);
  EXPECT_EQ(record.reason, "");
  EXPECT_EQ(record.training.loss_curve.back().step, static_cast<std::int64_t>(record.measurement.step_seconds.size()));
}

TEST(Ranks, AsynchronousTrainingGoesOnFromACheckpointAsIfNothingHadBeen) {
  const fs::path folder = fs::temp_directory_path() / "gpusizer_late_ranks_test";
  fs::remove_all(folder);
  fs::create_directories(folder);
  CaseConfig config = late_steps(small_lstm(), 2, 2);
  config.steps = 9;
  const auto expected = losses_of(run_ranks(config));
  ASSERT_EQ(expected.size(), 9u);
  config.checkpoint = folder;
  config.checkpoint_every = 3;
  CaseConfig begun = config;
  begun.parallel.fault = FaultOptions{"throw", 1, 8};
  EXPECT_EQ(run_ranks(begun).status, record::CaseStatus::failed);
  config.checkpoint_of = case_id(complete_case(begun));
  const record::Case record = run_ranks(config, true);
  EXPECT_EQ(losses_of(record), expected);
  EXPECT_EQ(*record.checkpoints->resumed_at_step, 6);
  fs::remove_all(folder);
}

TEST(Ranks, CheckpointsGoOnInAnotherLayout) {
  const fs::path folder = fs::temp_directory_path() / "gpusizer_ranks_test";
  fs::remove_all(folder);
  fs::create_directories(folder);
  const auto expected = losses_of(run_ranks(small_bert()));
  CaseConfig begun = in_layout(small_bert(), 2, 2);
  begun.accumulate = 2;
  begun.parallel.sharded = true;
  begun.checkpoint = folder;
  begun.checkpoint_every = 2;
  begun.parallel.fault = FaultOptions{"throw", 3, 6};
  EXPECT_EQ(run_ranks(begun).status, record::CaseStatus::failed);
  for (const auto& [dp, tp] : {std::pair{1, 2}, {4, 1}}) {
    CaseConfig other = in_layout(small_bert(), dp, 1, tp);
    other.checkpoint = folder;
    other.accumulate = 2;
    other.checkpoint_of = case_id(complete_case(begun));
    const record::Case record = run_ranks(other, true);
    const auto got = losses_of(record);
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-4 * expected[i]) << i;
    EXPECT_EQ(*record.checkpoints->resumed_at_step, 4);
    EXPECT_LE(record.measurement.step_seconds.size(), 4u);  // those of another layout were not timed in this one
    fs::remove(folder / (CheckpointFolder(folder, other.checkpoint_of).path_of(6)));
  }
  fs::remove_all(folder);
}

TEST(RankPlace, RanksAreNumberedByReplicaStageAndSlice) {
  ParallelOptions layout{.dp = 2, .pp = 3, .tp = 2};
  const RankPlace place = place_of(layout, 9);
  EXPECT_EQ(std::tuple(place.replica, place.stage, place.slice), std::tuple(1, 1, 1));
  EXPECT_EQ(replica_ranks(layout, place), (std::vector<std::int32_t>{3, 9}));
  EXPECT_EQ(stage_ranks(layout, place), (std::vector<std::int32_t>{7, 9, 11}));
  EXPECT_EQ(slice_ranks(layout, place), (std::vector<std::int32_t>{8, 9}));
  EXPECT_EQ(model_ranks(layout, place), (std::vector<std::int32_t>{6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(all_ranks(layout).size(), 12u);
  EXPECT_EQ(rank_text(layout, 9), "rank 9 (replica 1, stage 1, slice 1)");
  EXPECT_EQ(rank_text({.dp = 4}, 3), "rank 3");
  EXPECT_THROW(place_of(layout, 12), Error);
}

}  // namespace
}  // namespace gpusizer
