// SPDX-License-Identifier: Apache-2.0
// Asynchronous steps: gradients and results that come some steps later, against sums that are worked out by hand.
#include "workloads/transforms/delayed_sum.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "gpusizer/error.hpp"
#include "workloads/lowering/memory_plan.hpp"
#include "workloads/lowering/plain_target.hpp"
#include "workloads/program/layers.hpp"
#include "workloads/program/optimizer.hpp"
#include "workloads/transforms/check_schedule.hpp"
#include "workloads/transforms/data_parallel.hpp"
#include "workloads/transforms/mixed_precision.hpp"
#include "workloads/transforms/shared_results.hpp"
#include "workloads/transforms/tests/joined_ranks.hpp"

namespace gpusizer {
namespace {

// y = w x + c with the squared error.
Program line_net(int64_t batch) {
  ProgramBuilder b("line", batch);
  const TensorId x = b.input("x", {batch, 1}), targets = b.input("targets", {batch, 1});
  b.set_loss(b.apply(OpKind::mse_loss, "loss", {linear(b, "line", x, 1), targets})[0]);
  return b.finish();
}

// The step of one of several replicas with equal batches.
Program late_step(const Program& forward, int32_t rank, const std::vector<int32_t>& ranks, std::optional<int32_t> delay,
                  const OptimizerOptions& optimizer, int64_t bucket_bytes = int64_t{25} << 20) {
  const Differentiated step = differentiate(forward);
  DataParallelOptions o{.rank = rank, .replicas = ranks, .samples = forward.batch,
                        .total_samples = forward.batch * static_cast<int64_t>(ranks.size()),
                        .bucket_bytes = bucket_bytes, .first_bucket_bytes = bucket_bytes, .delay = delay};
  const ParallelUpdate update = parallel_update(step, o);
  const Differentiated joined = data_parallel(step, o);
  Program p = add_optimizer(joined.program, joined.gradients, optimizer, update);
  p = share_results(std::move(p), result_names(step.program), {.rank = rank, .ranks = ranks, .delay = delay});
  return count_delayed_steps(std::move(p));
}

std::vector<RankProgram> late_ranks(const Program& forward, int32_t count, std::optional<int32_t> delay,
                                    const OptimizerOptions& optimizer, int64_t bucket_bytes = int64_t{25} << 20) {
  std::vector<int32_t> ranks;
  for (int32_t r = 0; r < count; ++r) ranks.push_back(r);
  std::vector<RankProgram> programs;
  for (const int32_t r : ranks)
    programs.push_back({late_step(forward, r, ranks, delay, optimizer, bucket_bytes), r * forward.batch});
  return programs;
}

// Descent by hand on the whole batch, with each gradient used `delay` steps after it was made.
struct Line {
  double w, c;
  double momentum_w = 0, momentum_c = 0;
  std::vector<double> losses{}, gradients_w{}, gradients_c{};

  void step(int number, int64_t samples, size_t delay, double rate, const OptimizerOptions& o) {
    double loss = 0, gradient_w = 0, gradient_c = 0;
    for (int64_t i = 0; i < samples; ++i) {  // inputs and targets as run_joined() makes them
      const double x = std::sin(1.7 * static_cast<double>(i) + number), error = w * x + c - x;
      loss += error * error / static_cast<double>(samples);
      gradient_w += 2 * error * x / static_cast<double>(samples);
      gradient_c += 2 * error / static_cast<double>(samples);
    }
    losses.push_back(loss);
    gradients_w.push_back(gradient_w);
    gradients_c.push_back(gradient_c);
    if (losses.size() <= delay) return;  // nothing has come yet: no weight decay, no momentum
    const size_t late = losses.size() - 1 - delay;
    momentum_w = o.momentum * momentum_w + gradients_w[late] + o.weight_decay * w;
    momentum_c = o.momentum * momentum_c + gradients_c[late] + o.weight_decay * c;
    w -= rate * momentum_w;
    c -= rate * momentum_c;
  }
};

constexpr OptimizerOptions heavy{.momentum = 0.5, .weight_decay = 0.1};

TEST(DelayedSum, UpdatesWithTheGradientsOfSomeStepsAgo) {
  constexpr int64_t samples = 3;
  for (const char* backend : {"reference", "cpu"})
    for (const int delay : {0, 1, 3}) {
      const auto ranks = late_ranks(line_net(samples), 2, delay, heavy);
      const JoinedRun start = run_joined(ranks, {.steps = 0, .backend = backend});
      const JoinedRun run = run_joined(ranks, {.steps = 9, .backend = backend});
      Line line{.w = start.after[0].at("line.weight")[0], .c = start.after[0].at("line.bias")[0]};
      for (int step = 0; step < 9; ++step) {
        line.step(step, 2 * samples, static_cast<size_t>(delay), 0.1, heavy);
        const double told = step < delay ? 0 : line.losses[static_cast<size_t>(step - delay)];
        for (const auto& results : run.results)
          EXPECT_NEAR(results[static_cast<size_t>(step)].loss, told, 1e-5) << backend << " " << delay << " " << step;
      }
      EXPECT_NEAR(run.after[0].at("line.weight")[0], line.w, 1e-5) << backend << " " << delay;
      EXPECT_NEAR(run.after[0].at("line.bias")[0], line.c, 1e-5) << backend << " " << delay;
      for (const auto& [name, values] : run.after[0]) EXPECT_EQ(run.after[1].at(name), values) << name;
    }
}

TEST(DelayedSum, WithoutADelayItIsTheSynchronousStep) {
  for (const char* backend : {"reference", "cpu"}) {
    const JoinedOptions options{.steps = 4, .backend = backend, .stop_votes = {0, 2, 5}};
    const JoinedRun now = run_joined(late_ranks(number_net(2), 3, std::nullopt, {}, 64), options);
    const JoinedRun run = run_joined(late_ranks(number_net(2), 3, 0, {}, 64), options);
    for (const auto& [name, values] : now.after[0]) EXPECT_EQ(run.after[2].at(name), values) << name;
    for (size_t step = 0; step < 4; ++step) {
      EXPECT_EQ(run.results[1][step].loss, now.results[1][step].loss);
      EXPECT_EQ(run.results[1][step].outputs, now.results[1][step].outputs);
    }
  }
}

TEST(DelayedSum, ShortGradientsAreKeptInFull) {
  const Differentiated step = mixed_precision(differentiate(number_net(2)), Precision::bf16);
  const DataParallelOptions o{.replicas = {0, 1}, .samples = 2, .total_samples = 4, .delay = 1};
  for (const auto& [parameter, gradient] : data_parallel(step, o).gradients)
    EXPECT_EQ(data_parallel(step, o).program.tensor(gradient).dtype, DType::f32);
}

TEST(DelayedSum, VotesAndCountsComeWithTheResultsOfTheirStep) {
  const auto ranks = late_ranks(number_net(2), 2, 2, {});
  const JoinedRun run = run_joined(ranks, {.steps = 4, .stop_votes = {1, 100}});
  const auto& outputs = ranks[0].program.outputs;
  const auto votes = static_cast<size_t>(
      std::ranges::find(outputs, "stop_votes", &ProgramOutput::name) - outputs.begin());
  for (const auto& results : run.results)
    for (size_t step = 0; step < 4; ++step) {
      EXPECT_EQ(results[step].outputs[votes], step < 2 ? 0 : 101);
      EXPECT_EQ(results[step].counts[0], step < 2 ? 0 : 4) << "samples of both";
    }
}

TEST(DelayedSum, StepsWithoutGradientsAreNotCountedByTheOptimizer) {
  OptimizerOptions adam{.momentum = 0, .kind = OptimizerKind::adamw, .clip_norm = 0.5};
  for (const char* backend : {"reference", "cpu"}) {
    const auto ranks = late_ranks(number_net(2), 2, 3, adam);
    const JoinedRun start = run_joined(ranks, {.steps = 0, .backend = backend});
    const JoinedRun early = run_joined(ranks, {.steps = 3, .backend = backend});
    const JoinedRun later = run_joined(ranks, {.steps = 5, .backend = backend});
    EXPECT_EQ(early.after[0].at("first.weight"), start.after[0].at("first.weight"));
    EXPECT_NE(later.after[0].at("first.weight"), start.after[0].at("first.weight"));
    EXPECT_EQ(early.after[0].at("optimizer:steps")[0], 0);
    EXPECT_EQ(later.after[0].at("optimizer:steps")[0], 2);
    EXPECT_EQ(later.after[0].at("delayed:steps")[0], 5);
  }
}

TEST(DelayedSum, NoRankWaitsForTheLabelsOfOthers) {
  const Program p = late_step(two_loss_net(4), 0, {0, 1}, 2, {});
  EXPECT_EQ(std::ranges::count(p.operations, OpKind::all_reduce, &Operation::kind), 0);
  EXPECT_EQ(std::ranges::count(p.operations, OpKind::delayed_all_reduce, &Operation::kind), 2);
}

TEST(DelayedSum, WhatIsUnderWayIsInTheMemoryPlan) {
  const auto planned = [](std::optional<int32_t> delay) {
    const std::vector<LoweredProgram> programs{lower(late_step(number_net(2), 0, {0, 1}, delay, {}, 64), plain_target())};
    const MemoryPlan plan = plan_memory(programs);
    EXPECT_TRUE(check_plan(programs, plan).empty());
    return plan.persistent_bytes;
  };
  int64_t gradients = 0;
  for (const Tensor& t : number_net(2).tensors)
    if (t.role == Role::parameter) gradients += 4 * element_count(t.shape);
  EXPECT_GE(planned(0) - planned(std::nullopt), gradients);
  EXPECT_GE(planned(4) - planned(1), 3 * gradients);
}

TEST(DelayedSum, TheScheduleIsChecked) {
  const auto step = [](int32_t rank, int32_t delay) { return late_step(number_net(2), rank, {0, 1}, delay, {}); };
  EXPECT_TRUE(check_schedule(std::vector{step(0, 2), step(1, 2)}).empty());
  const auto faults = check_schedule(std::vector{step(0, 2), step(1, 3)});
  ASSERT_FALSE(faults.empty());
  EXPECT_NE(faults[0].find("told 2 steps later"), std::string::npos) << faults[0];
  EXPECT_NE(faults[0].find("told 3 steps later"), std::string::npos) << faults[0];
}

TEST(DelayedSum, RefusesWhatCannotComeLater) {
  const Differentiated step = differentiate(number_net(2));
  EXPECT_THROW(data_parallel(step, {.replicas = {0, 1}, .total_samples = 2, .delay = -1}), Error);
  EXPECT_THROW(data_parallel(step, {.replicas = {0, 1}, .total_samples = 2, .delay = 1, .sharded = true}), Error);
  EXPECT_THROW(data_parallel(step, {.replicas = {0, 1}, .tied = {{"first.weight", {0, 1}}}, .total_samples = 2, .delay = 1}),
               Error);
}

}  // namespace
}  // namespace gpusizer
