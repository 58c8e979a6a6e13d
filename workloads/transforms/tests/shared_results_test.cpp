// SPDX-License-Identifier: Apache-2.0
// Every rank learns the loss, the outputs and the votes, whatever it computed itself.
#include "workloads/transforms/shared_results.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "gpusizer/error.hpp"
#include "workloads/program/layers.hpp"
#include "workloads/program/optimizer.hpp"
#include "workloads/transforms/tests/joined_ranks.hpp"
#include "workloads/transforms/tests/small_step.hpp"

namespace gpusizer {
namespace {

// An earlier stage: it has neither a loss nor outputs.
Program without_results(int64_t batch) {
  ProgramBuilder b("stage", batch);
  relu(b, "relu", linear(b, "first", b.input("x", {batch, 6}), 5));
  return b.finish();
}

TEST(SharedResults, RanksWithoutALossKnowIt) {
  const Program net = two_loss_net(5);
  const ResultNames names = result_names(net);
  const std::vector<int32_t> world{0, 1, 2};
  const JoinedRun alone = run_joined({{net, 0}}, {.steps = 2});
  const JoinedRun run = run_joined({{share_results(without_results(5), names, {.rank = 0, .ranks = world}), 0},
                                    {share_results(net, names, {.rank = 1, .ranks = world}), 0},
                                    {share_results(net, names, {.rank = 2, .ranks = world, .contributes = false}), 0}},
                                   {.steps = 2, .stop_votes = {1, 0, 1}});
  for (const auto& results : run.results)
    for (size_t step = 0; step < 2; ++step) {
      const StepResult &got = results[step], &wanted = alone.results[0][step];
      EXPECT_EQ(got.loss, wanted.loss);
      EXPECT_EQ(got.correct, wanted.correct);
      for (size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(got.outputs[i], wanted.outputs[i]) << i;
        EXPECT_EQ(got.counts[i], wanted.counts[i]) << i;
      }
      EXPECT_EQ(got.outputs[3], 2) << "votes";
    }
}

TEST(SharedResults, MeansMayBeWeightedOnTheWay) {
  const Program net = number_net(4);
  const ResultNames names = result_names(net);
  const auto shared = [&](int32_t rank) {
    return share_results(net, names, {.rank = rank, .ranks = {0, 1}, .mean_share = 0.5});
  };
  const JoinedRun run = run_joined({{shared(0), 0}, {shared(1), 4}}), whole = run_joined({{number_net(8), 0}});
  EXPECT_NEAR(run.results[1][0].loss, whole.results[0][0].loss, 1e-7);
  EXPECT_NEAR(run.results[0][0].outputs[0], whole.results[0][0].outputs[0], 1e-7);
  EXPECT_EQ(run.results[0][0].counts[0], 8);
}

TEST(SharedResults, TheSumFollowsTheForwardPass) {
  const Program net = small_net(4);
  const Program p =
      share_results(training_program(net, {.clip_norm = 1}), result_names(net), {.rank = 0, .ranks = {0, 1}});
  for (size_t i = 1; i < p.operations.size(); ++i) {
    if (p.operations[i].kind != OpKind::all_reduce) continue;
    EXPECT_EQ(p.operations[i - 1].phase, Phase::forward);
    EXPECT_EQ(p.operations[i + 1].phase, Phase::backward);
  }
  ASSERT_EQ(p.outputs.size(), 3u);
  EXPECT_EQ(p.outputs[0].name, "gradient_factor");  // the same on every rank already
  EXPECT_EQ(p.outputs[1].name, "gradient_norm");
  EXPECT_EQ(p.outputs[2].name, "stop_votes");
}

TEST(SharedResults, RefusesOutputsThatOthersDoNotKnow) {
  const ResultNames names = result_names(number_net(4));
  EXPECT_THROW(share_results(two_loss_net(4), names, {.rank = 0, .ranks = {0, 1}}), Error);
  ResultNames many = names;
  for (int i = 0; i < 8; ++i) many.outputs.push_back({fmt::format("more{}", i), 10 + i, -1, false});
  EXPECT_THROW(share_results(without_results(4), many, {.rank = 0, .ranks = {0, 1}}), Error);
}

}  // namespace
}  // namespace gpusizer
