// SPDX-License-Identifier: Apache-2.0
// Replicas learn what one rank learns from the whole batch; where the collectives stand, and who owns what.
#include "workloads/transforms/data_parallel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "gpusizer/error.hpp"
#include "workloads/transforms/gradient_accumulation.hpp"
#include "workloads/transforms/mixed_precision.hpp"
#include "workloads/transforms/shared_results.hpp"
#include "workloads/transforms/tests/joined_ranks.hpp"
#include "workloads/transforms/tests/small_step.hpp"

namespace gpusizer {
namespace {

struct ReplicaLayout {
  std::vector<int64_t> samples;  // of each replica
  int64_t micro_batches = 1;
  bool sharded = false;
  Precision precision = Precision::fp32;
  std::string backend = "reference";
};

std::vector<int32_t> first_ranks(size_t count) {
  std::vector<int32_t> ranks(count);
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

DataParallelOptions options_of(const ReplicaLayout& layout, size_t rank) {
  const auto ranks = first_ranks(layout.samples.size());
  return {.rank = static_cast<int32_t>(rank),
          .replicas = ranks,
          .samples = layout.samples[rank],
          .total_samples = std::accumulate(layout.samples.begin(), layout.samples.end(), int64_t{0}),
          .bucket_bytes = 100,  // several buckets, small as the net is
          .first_bucket_bytes = 20,
          .sharded = layout.sharded,
          .world = static_cast<int32_t>(ranks.size())};
}

Program replica(Program (*net)(int64_t), const ReplicaLayout& layout, size_t rank, const OptimizerOptions& optimizer) {
  Differentiated step =
      accumulate_gradients(differentiate(net(layout.samples[rank] / layout.micro_batches)), layout.micro_batches);
  step = mixed_precision(std::move(step), layout.precision);
  const ResultNames names = result_names(step.program);
  const DataParallelOptions o = options_of(layout, rank);
  const ParallelUpdate update = parallel_update(step, o);
  step = data_parallel(std::move(step), o);
  Program p = add_optimizer(std::move(step.program), step.gradients, optimizer, update);
  return share_results(std::move(p), names, {.rank = o.rank, .ranks = o.replicas});
}

JoinedRun run_replicas(Program (*net)(int64_t), const ReplicaLayout& layout, const OptimizerOptions& optimizer) {
  std::vector<RankProgram> ranks;
  int64_t first = 0;
  for (size_t r = 0; r < layout.samples.size(); ++r) {
    ranks.push_back({replica(net, layout, r, optimizer), first});
    first += layout.samples[r];
  }
  return run_joined(ranks, {.steps = 3, .backend = layout.backend});
}

void expect_same(const JoinedRun& got, const JoinedRun& wanted, double tolerance) {
  for (const auto& results : got.results)
    for (size_t s = 0; s < wanted.results[0].size(); ++s) {
      const StepResult &g = results.at(s), &w = wanted.results[0][s];
      EXPECT_NEAR(g.loss, w.loss, tolerance) << "step " << s;
      EXPECT_EQ(g.correct, w.correct);
      for (size_t i = 0; i < w.outputs.size(); ++i) {
        EXPECT_NEAR(g.outputs[i], w.outputs[i], tolerance * (1 + std::abs(w.outputs[i]))) << "output " << i;
        EXPECT_EQ(g.counts[i], w.counts[i]) << "output " << i;
      }
    }
  for (const auto& [name, values] : wanted.after[0])
    for (const auto& after : got.after) {
      if (!after.contains(name)) continue;  // a state of another rank's
      for (size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(after.at(name)[i], values[i], tolerance) << name << i;
    }
}

class Replicas : public testing::TestWithParam<ReplicaLayout> {};

TEST_P(Replicas, LearnAsOneRankDoes) {
  const ReplicaLayout& layout = GetParam();
  const int64_t total = std::accumulate(layout.samples.begin(), layout.samples.end(), int64_t{0});
  for (const auto net : {two_loss_net, number_net})
    for (const auto kind : {OptimizerKind::sgd, OptimizerKind::adam}) {
      const OptimizerOptions optimizer{.kind = kind, .clip_norm = 0.05};
      const JoinedRun wanted = run_replicas(net, {.samples = {total}}, optimizer);
      expect_same(run_replicas(net, layout, optimizer), wanted, 1e-6);
    }
}

INSTANTIATE_TEST_SUITE_P(Layouts, Replicas,
                         testing::Values(ReplicaLayout{{6, 6}}, ReplicaLayout{{3, 3, 3, 3}}, ReplicaLayout{{5, 4, 3}},
                                         ReplicaLayout{{6, 6}, 3}, ReplicaLayout{{4, 4, 4}, 2, true},
                                         ReplicaLayout{{7, 5}, 1, true}));

TEST(DataParallel, TheLossScaleSeesAllGradients) {
  const OptimizerOptions optimizer{.kind = OptimizerKind::adam, .clip_norm = 0.05};
  const JoinedRun one = run_replicas(two_loss_net, {.samples = {12}, .precision = Precision::fp16}, optimizer);
  const JoinedRun sharded = run_replicas(two_loss_net, {{3, 3, 3, 3}, 1, true, Precision::fp16}, optimizer);
  for (const auto& after : sharded.after) {
    EXPECT_EQ(after.at("loss_scale"), one.after[0].at("loss_scale"));
    EXPECT_EQ(after.at("optimizer:steps"), one.after[0].at("optimizer:steps"));
    for (const char* name : {"first.weight", "masked.bias"})
      EXPECT_EQ(after.at(name), sharded.after[0].at(name)) << name;
  }
  EXPECT_NEAR(sharded.results[2][2].loss, one.results[0][2].loss, 2e-3);
}

TEST(DataParallel, TheCpuDoesTheSame) {
  for (const bool sharded : {false, true}) {
    const ReplicaLayout layout{{4, 4, 4}, 2, sharded, Precision::fp32, "cpu"};
    const OptimizerOptions optimizer{.clip_norm = 0.05};
    const JoinedRun wanted = run_replicas(two_loss_net, {.samples = {12}}, optimizer);
    expect_same(run_replicas(two_loss_net, layout, optimizer), wanted, 1e-4);
  }
}

std::vector<std::string> names_of(const Program& p, const std::vector<TensorId>& ids) {
  std::vector<std::string> names;
  for (const TensorId id : ids) names.push_back(p.tensor(id).name);
  return names;
}

TEST(DataParallel, ACollectiveFollowsItsLastGradientAtOnce) {
  const Differentiated step = data_parallel(differentiate(small_net(4)), options_of({{4, 4}}, 1));
  const Program& p = step.program;
  int buckets = 0;
  for (size_t i = 0; i < p.operations.size(); ++i) {
    if (p.operations[i].kind != OpKind::all_reduce) continue;
    ++buckets;
    size_t before = i - 1;  // one operation makes the gradients of a layer, and may fill two buckets
    while (p.operations[before].kind == OpKind::all_reduce) --before;
    const auto& made = p.operations[before].outputs;
    EXPECT_EQ(std::ranges::count(made, p.operations[i].inputs.back()), 1) << p.operations[i].layer;
    EXPECT_EQ(p.operations[i].phase, Phase::communicate);
  }
  EXPECT_EQ(buckets, 3);
  for (const auto& [parameter, gradient] : step.gradients) EXPECT_TRUE(p.tensor(gradient).name.ends_with(":reduced"));
  EXPECT_EQ(step.gradients.size(), 4u);
}

TEST(DataParallel, BucketsFillInTheOrderInWhichGradientsAreReady) {
  const Differentiated step = differentiate(two_loss_net(4));
  DataParallelOptions o = options_of({{4, 4}}, 0);
  const auto small = gradient_buckets(step, o);
  ASSERT_GE(small.size(), 2u);
  EXPECT_GE(small[0].bytes, 20);
  o.bucket_bytes = o.first_bucket_bytes = 1 << 20;
  const auto large = gradient_buckets(step, o);
  ASSERT_EQ(large.size(), 1u);
  EXPECT_EQ(large[0].bytes, 4 * (6 * 5 + 5 + 2 * (5 * 3 + 3)));
  EXPECT_EQ(large[0].ranks, (std::vector{0, 1}));
  std::vector<std::string> in_small;
  for (const auto& b : small)
    for (const auto& name : names_of(step.program, b.parameters)) in_small.push_back(name);
  EXPECT_EQ(in_small, names_of(step.program, large[0].parameters));
  EXPECT_TRUE(in_small.back().starts_with("first."));
}

TEST(DataParallel, MixedWidthsHaveBucketsOfTheirOwn) {
  const Differentiated step = mixed_precision(differentiate(rich_net(4)), Precision::fp16);
  DataParallelOptions o = options_of({{4, 4}}, 0);
  o.bucket_bytes = o.first_bucket_bytes = 1 << 20;
  const auto buckets = gradient_buckets(step, o);
  ASSERT_EQ(buckets.size(), 2u);
  for (const auto& b : buckets)
    for (const TensorId id : b.gradients)
      EXPECT_EQ(step.program.tensor(id).dtype, step.program.tensor(b.gradients[0]).dtype);
}

TEST(DataParallel, OwnersHaveAboutTheSame) {
  EXPECT_EQ(balanced_owners({10, 70, 30, 30, 10}, {4, 6}), (std::vector{6, 4, 6, 6, 4}));
  EXPECT_EQ(balanced_owners({5, 5}, {0, 1, 2}, {9, 0, 0}), (std::vector{1, 2}));
}

TEST(DataParallel, AShardedStepHasTheGradientsOfWhatItOwns) {
  std::set<std::string> owned;
  for (size_t rank = 0; rank < 2; ++rank) {
    const DataParallelOptions o = options_of({{4, 4}, 1, true}, rank);
    const Differentiated step = differentiate(small_net(4));
    const ParallelUpdate update = parallel_update(step, o);
    const Differentiated mine = data_parallel(step, o);
    std::set<std::string> counted;
    for (const auto& [parameter, gradient] : mine.gradients) counted.insert(mine.program.tensor(parameter).name);
    EXPECT_EQ(counted, update.counted);
    for (const auto& name : counted) EXPECT_TRUE(owned.insert(name).second) << name << " has two owners";
    EXPECT_EQ(update.norm_ranks, (std::vector{0, 1}));
    size_t handed_over = 0;
    for (const auto& h : update.handovers) handed_over += h.parameters.size();
    EXPECT_EQ(handed_over, 4u);
  }
  EXPECT_EQ(owned.size(), 4u);
}

// Two ranks that share one parameter, as stages do: its gradient is the sum of both, all others are each one's own.
TEST(DataParallel, TiedGradientsAreSummedOverTheirOwnRanks) {
  const OptimizerOptions plain{.momentum = 0, .weight_decay = 0};
  const auto stage = [&](int32_t rank, bool sharded) {
    DataParallelOptions o{.rank = rank, .replicas = {rank}, .tied = {{"first.weight", {0, 1}}, {"elsewhere", {5, 6}}},
                          .sharded = sharded, .model = {0, 1}, .world = 2};
    Differentiated step = differentiate(small_net(4));
    const ParallelUpdate update = parallel_update(step, o);
    EXPECT_EQ(update.counted.contains("first.weight"), rank == 0);
    EXPECT_TRUE(update.counted.contains("last.weight"));
    step = data_parallel(std::move(step), o);
    return add_optimizer(std::move(step.program), step.gradients, plain, update);
  };
  for (const bool sharded : {false, true}) {
    const JoinedRun run = run_joined({{stage(0, sharded), 0}, {stage(1, sharded), 4}}, {.steps = 1});
    const Program alone = training_program(small_net(4), plain);
    const JoinedRun nothing = run_joined({{alone, 0}}, {.steps = 0}), first = run_joined({{alone, 0}}, {.steps = 1}),
                    second = run_joined({{alone, 4}}, {.steps = 1});
    EXPECT_EQ(run.after[0].at("first.weight"), run.after[1].at("first.weight"));
    EXPECT_EQ(run.after[1].at("last.bias"), second.after[0].at("last.bias"));
    const auto& start = nothing.after[0].at("first.weight");
    for (size_t i = 0; i < start.size(); ++i)
      EXPECT_NEAR(run.after[0].at("first.weight")[i],
                  first.after[0].at("first.weight")[i] + second.after[0].at("first.weight")[i] - start[i], 1e-6);
  }
}

TEST(DataParallel, OneRankKeepsItsStep) {
  const Differentiated step = differentiate(small_net(4));
  const DataParallelOptions alone{.rank = 3, .replicas = {3}};
  const Differentiated same = data_parallel(step, alone);
  EXPECT_EQ(same.gradients, step.gradients);
  EXPECT_EQ(same.program.operations.size(), step.program.operations.size());
  EXPECT_TRUE(parallel_update(step, alone).norm_ranks.empty());
}

TEST(DataParallel, RefusesWhatCannotBe) {
  const Differentiated step = differentiate(small_net(4));
  EXPECT_THROW(data_parallel(step, {.rank = 0, .replicas = {1, 2}}), Error);
  EXPECT_THROW(data_parallel(step, {.rank = 1, .replicas = {2, 1}}), Error);
  EXPECT_THROW(data_parallel(step, {.rank = 0, .replicas = {0, 1}, .samples = 3, .total_samples = 2}), Error);
  EXPECT_THROW(data_parallel(step, {.rank = 0, .tied = {{"first.weight", {1, 2}}}}), Error);
  EXPECT_THROW(data_parallel({training_program(small_net(4), {}), step.gradients}, {}), Error);
  EXPECT_THROW(parallel_update(step, {.rank = 0, .replicas = {0, 1}, .sharded = true, .world = 1}), Error);
  EXPECT_THROW(add_optimizer(step.program, step.gradients, {}, {.handovers = {{{0}, {"x"}, {0}}}}), Error);
}

}  // namespace
}  // namespace gpusizer
