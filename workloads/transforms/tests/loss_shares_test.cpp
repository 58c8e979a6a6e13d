// SPDX-License-Identifier: Apache-2.0
// Weighted losses of parts are the mean over the whole, however many labels of a part count.
#include "workloads/transforms/loss_shares.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "gpusizer/error.hpp"
#include "workloads/program/layers.hpp"
#include "workloads/program/optimizer.hpp"
#include "workloads/transforms/gradient_accumulation.hpp"
#include "workloads/transforms/tests/joined_ranks.hpp"
#include "workloads/transforms/tests/small_step.hpp"

namespace gpusizer {
namespace {

int64_t how_many(const Program& p, OpKind kind) { return std::ranges::count(p.operations, kind, &Operation::kind); }

Program updated(const Differentiated& step) { return add_optimizer(step.program, step.gradients, {}); }

TEST(LossShares, MicroBatchesWithDifferentNumbersOfLabelsGiveTheMeanOverAllLabels) {
  const JoinedRun whole = run_joined({{updated(differentiate(two_loss_net(12))), 0}});
  const JoinedRun parts = run_joined({{updated(accumulate_gradients(differentiate(two_loss_net(3)), 4)), 0}});
  for (size_t step = 0; step < whole.results[0].size(); ++step) {
    const StepResult &wanted = whole.results[0][step], &got = parts.results[0][step];
    EXPECT_NEAR(got.loss, wanted.loss, 1e-7);
    EXPECT_EQ(got.counts, wanted.counts);
    for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(got.outputs[i], wanted.outputs[i], 1e-7) << i;
  }
  for (const auto& [name, values] : whole.after[0])
    for (size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(parts.after[0].at(name)[i], values[i], 1e-6) << name;
}

TEST(LossShares, MeansThatAreNoLossesAreWeightedToo) {
  const JoinedRun whole = run_joined({{updated(differentiate(number_net(12))), 0}});
  const JoinedRun parts = run_joined({{updated(accumulate_gradients(differentiate(number_net(4)), 3)), 0}});
  for (size_t step = 0; step < whole.results[0].size(); ++step)
    EXPECT_NEAR(parts.results[0][step].outputs[0], whole.results[0][step].outputs[0], 1e-7);
}

TEST(LossShares, LabelsAreCountedOverMicroBatchesAndRanks) {
  const Program parts = accumulate_gradients(differentiate(two_loss_net(3)), 2).program;
  EXPECT_EQ(how_many(parts, OpKind::count_labels), 2);
  EXPECT_EQ(how_many(parts, OpKind::all_reduce), 0);
  const Program p = weigh_losses(parts, {.batch = 0.5, .rank = 1, .ranks = {0, 1}});
  EXPECT_EQ(how_many(p, OpKind::count_labels), 2);
  EXPECT_EQ(how_many(p, OpKind::all_reduce), 1);
  EXPECT_EQ(how_many(p, OpKind::scale_by), 4);  // of each micro-batch the value and what enters its backward
  const auto sum = std::ranges::find(p.operations, OpKind::all_reduce, &Operation::kind);
  for (const Operation& op : p.operations)
    if (op.kind == OpKind::divide) {
      EXPECT_EQ(op.inputs[1], sum->outputs[0]);
    }
  for (auto op = p.operations.begin(); op != sum; ++op)
    EXPECT_TRUE(p.tensor(op->outputs[0]).shape.empty()) << op->layer << " comes before the labels are counted";
}

TEST(LossShares, OneWholeIsLeftAlone) {
  const Program p = two_loss_net(4);
  EXPECT_EQ(weigh_losses(p, {}).operations.size(), p.operations.size());
  EXPECT_EQ(weigh_losses(p, {.ranks = {0}}).operations.size(), p.operations.size());
}

TEST(LossShares, AForwardProgramIsWeightedToo) {
  const Program p = weigh_losses(two_loss_net(4), {.batch = 0.25, .rank = 0, .ranks = {0, 2}});
  EXPECT_EQ(how_many(p, OpKind::scale), 1);
  EXPECT_EQ(how_many(p, OpKind::scale_by), 1);
  EXPECT_EQ(p.tensor(p.outputs[2].value).name, "plain_loss:share");
  EXPECT_EQ(p.tensor(p.outputs[0].value).name, "masked_loss:share");
  EXPECT_EQ(p.tensor(p.outputs[1].value).name, "masked_loss:correct");
}

TEST(LossShares, RefusesWhatItCannotWeigh) {
  ProgramBuilder b("mean of its own", 2);
  const TensorId x = b.input("x", {2, 6}), labels = b.input("labels", {2}, DType::i32);
  const auto loss = b.apply(OpKind::softmax_cross_entropy, "loss", {linear(b, "fc", x, 3), labels},
                            LossAttributes{.ignore_negative = true});
  b.set_loss(loss[0]);
  b.add_output({"right", loss[1], loss[3]});
  EXPECT_THROW(weigh_losses(b.finish(), {.batch = 0.5}), Error);
  EXPECT_THROW(weigh_losses(small_net(4), {.batch = 1.5}), Error);
  EXPECT_THROW(weigh_losses(small_net(4), {.micro_batches = 0}), Error);
}

}  // namespace
}  // namespace gpusizer
