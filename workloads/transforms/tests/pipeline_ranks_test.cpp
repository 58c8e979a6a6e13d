// SPDX-License-Identifier: Apache-2.0
// Stages on threads, with real messages between them: the same numbers as one rank has.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <thread>

#include "workloads/backend/communicator/thread_group.hpp"
#include "workloads/program/optimizer.hpp"
#include "workloads/transforms/check_schedule.hpp"
#include "workloads/transforms/data_parallel.hpp"
#include "workloads/transforms/gradient_accumulation.hpp"
#include "workloads/transforms/mixed_precision.hpp"
#include "workloads/transforms/pipeline.hpp"
#include "workloads/transforms/recompute.hpp"
#include "workloads/transforms/tests/whole_step.hpp"

namespace gpusizer {
namespace {

struct StagedCase {
  std::string model;
  int64_t layers;
  int32_t stages;
  int64_t micro_batches;
  PipelineSchedule schedule;
  bool again = false;
};

std::ostream& operator<<(std::ostream& out, const StagedCase& c) {
  return out << c.model << c.layers << " pp" << c.stages << " x" << c.micro_batches << " " << to_string(c.schedule)
             << (c.again ? " recompute" : "");
}

constexpr int staged_steps = 3;

// Stages' programs with the sums of tied gradients and the updates.
std::vector<Program> staged_programs(const Differentiated& step, const PipelinePlan& plan, PipelineSchedule schedule) {
  std::vector<int32_t> ranks;
  for (int32_t s = 0; s < plan.stages; ++s) ranks.push_back(s);
  std::vector<Program> programs;
  for (PipelineStage& stage : pipeline(step, plan, ranks, schedule)) {
    const auto rank = static_cast<int32_t>(programs.size());
    DataParallelOptions options{.rank = rank, .replicas = {rank}};
    for (const auto& [name, stages] : stage.tied)
      if (std::ranges::count(stages, rank) > 0) options.tied[name] = stages;
    const Differentiated summed = data_parallel(std::move(stage.step), options);
    programs.push_back(add_optimizer(summed.program, summed.gradients, {.momentum = 0.9}));
  }
  return programs;
}

struct StagedRun {
  std::vector<double> losses;                        // the last stage's
  std::map<std::string, std::vector<float>> values;  // what persists, of all stages
};

void run_stage(const Program& program, Communicator& communicator, StagedRun& run) {
  WholeRun stage(program, &communicator);
  for (int i = 0; i < staged_steps; ++i) {
    const StepResult result = stage.step(i);
    if (program.loss.index >= 0) run.losses.push_back(result.loss);
  }
  for (const std::string& name : stage.parameters()) run.values[name] = stage.read(name);
}

StagedRun run_stages(const std::vector<Program>& programs) {
  ThreadGroup group(static_cast<int>(programs.size()), 60);
  std::vector<StagedRun> runs(programs.size());
  std::vector<std::string> errors(programs.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < programs.size(); ++i)
    threads.emplace_back([&, i, communicator = std::shared_ptr<Communicator>(group.join(static_cast<int>(i)))] {
      try {
        run_stage(programs[i], *communicator, runs[i]);
      } catch (const std::exception& e) {
        errors[i] = e.what();
        communicator->abort(e.what());
      }
    });
  for (std::thread& t : threads) t.join();
  for (const std::string& error : errors) EXPECT_EQ(error, "");
  for (size_t i = 0; i + 1 < runs.size(); ++i) runs.back().values.merge(runs[i].values);
  return runs.back();
}

class StagesOnThreads : public testing::TestWithParam<StagedCase> {};

TEST_P(StagesOnThreads, ComputeWhatOneRankDoes) {
  const StagedCase& c = GetParam();
  Differentiated one = differentiate(small_model(c.model, c.layers, 2));
  if (c.again) one = recompute(one);
  const PipelinePlan plan = plan_stages(one, c.stages);
  const Differentiated step = accumulate_gradients(one, c.micro_batches);
  const std::vector<Program> programs = staged_programs(step, plan, c.schedule);
  ASSERT_EQ(check_schedule(programs), std::vector<std::string>{});
  const StagedRun got = run_stages(programs);
  WholeRun whole(add_optimizer(step.program, step.gradients, {.momentum = 0.9}));
  ASSERT_EQ(got.losses.size(), size_t{staged_steps});
  const bool tied = c.model == "bert-mini";  // the word table's gradient is summed in another order
  for (int i = 0; i < staged_steps; ++i)
    EXPECT_NEAR(got.losses[static_cast<size_t>(i)], whole.step(i).loss, tied ? 1e-6 : 0);
  for (const std::string& name : whole.parameters()) {
    const auto wanted = whole.read(name);
    ASSERT_TRUE(got.values.contains(name)) << name;
    for (size_t i = 0; i < wanted.size(); ++i) ASSERT_NEAR(got.values.at(name)[i], wanted[i], tied ? 1e-5 : 0) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, StagesOnThreads,
    testing::Values(StagedCase{"bert-mini", 2, 2, 1, PipelineSchedule::gpipe},
                    StagedCase{"bert-mini", 4, 4, 4, PipelineSchedule::one_forward_one_backward},
                    StagedCase{"bert-mini", 3, 3, 4, PipelineSchedule::gpipe, true},
                    StagedCase{"bert-mini", 2, 6, 4, PipelineSchedule::one_forward_one_backward},
                    StagedCase{"temporal", 3, 3, 5, PipelineSchedule::one_forward_one_backward},
                    StagedCase{"temporal", 2, 2, 3, PipelineSchedule::gpipe},
                    StagedCase{"lstm", 2, 3, 2, PipelineSchedule::one_forward_one_backward},
                    StagedCase{"resnet8", 0, 4, 2, PipelineSchedule::one_forward_one_backward, true}));

}  // namespace
}  // namespace gpusizer
