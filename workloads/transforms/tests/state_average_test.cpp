// SPDX-License-Identifier: Apache-2.0
// Means over the replicas, in place and the same on all of them.
#include "workloads/transforms/state_average.hpp"

#include <gtest/gtest.h>

#include "workloads/program/layers.hpp"
#include "workloads/program/optimizer.hpp"
#include "workloads/transforms/tests/joined_ranks.hpp"
#include "workloads/transforms/tests/small_step.hpp"

namespace gpusizer {
namespace {

Program norm_net(int64_t batch) {
  ProgramBuilder b("images", batch);
  const TensorId x = b.input("x", {batch, 3, 4, 4}), labels = b.input("labels", {batch}, DType::i32);
  classification_loss(b, linear(b, "fc", flatten(b, "f", batch_norm(b, "n", x, true)), 3), labels);
  return training_program(b.finish(), {});
}

// A training step with the averaging of its states behind it, so that one run does both.
Program trained_and_averaged(Program training, int32_t rank, const std::vector<int32_t>& ranks) {
  const Program average = average_states(training, rank, ranks).value();
  ProgramBuilder b{std::move(training)};
  std::vector<TensorId> moved;  // ids of the averaging in the whole
  for (const Operation& op : average.operations) {
    std::vector<TensorId> inputs;
    for (const TensorId id : op.inputs) inputs.push_back(b.program().find(average.tensor(id).name)->id);
    b.apply(op.kind, op.layer, inputs, op.attributes, op.phase);
  }
  return b.finish();
}

void expect_means(const JoinedRun& run, const std::vector<const JoinedRun*>& alone, const std::string& name) {
  const auto& got = run.after[0].at(name);
  for (const auto& after : run.after) EXPECT_EQ(after.at(name), got) << name;
  for (size_t i = 0; i < got.size(); ++i) {
    double mean = 0;
    for (const JoinedRun* one : alone) mean += one->after[0].at(name)[i] / static_cast<double>(alone.size());
    EXPECT_NEAR(got[i], mean, 1e-6) << name;
  }
}

TEST(StateAverage, RunningStatisticsBecomeTheMeanOverTheReplicas) {
  for (const char* backend : {"reference", "cpu"}) {
    const JoinedOptions once{.steps = 1, .backend = backend};
    const JoinedRun first = run_joined({{norm_net(4), 0}}, once), second = run_joined({{norm_net(4), 4}}, once);
    const JoinedRun run = run_joined({{trained_and_averaged(norm_net(4), 0, {0, 1}), 0},
                                      {trained_and_averaged(norm_net(4), 1, {0, 1}), 4}}, once);
    for (const char* name : {"n.running_mean", "n.running_var"}) expect_means(run, {&first, &second}, name);
    EXPECT_NE(run.after[0].at("fc.weight"), run.after[1].at("fc.weight")) << "parameters are each rank's own";
  }
}

TEST(StateAverage, ParametersBecomeTheMeanOverTheReplicas) {
  for (const char* backend : {"reference", "cpu"}) {
    const JoinedOptions once{.steps = 1, .backend = backend};
    const Program training = training_program(small_net(4), {});
    const JoinedRun first = run_joined({{training, 0}}, once), second = run_joined({{training, 4}}, once);
    const JoinedRun run = run_joined({{average_parameters(training, 0, {0, 1}, 64), 0},
                                      {average_parameters(training, 1, {0, 1}, 64), 4}}, once);
    for (const char* name : {"first.weight", "last.bias"}) expect_means(run, {&first, &second}, name);
    EXPECT_EQ(run.after[1].at("first.weight:momentum"), second.after[0].at("first.weight:momentum"));
  }
}

TEST(StateAverage, ThereIsNothingToDoWithoutStatesOrForOneRank) {
  EXPECT_FALSE(average_states(training_program(small_net(4), {}), 0, {0, 1}));
  EXPECT_FALSE(average_states(norm_net(4), 0, {0}));
  const Program training = norm_net(4);
  EXPECT_EQ(average_parameters(training, 2, {2}).operations.size(), training.operations.size());
}

}  // namespace
}  // namespace gpusizer
