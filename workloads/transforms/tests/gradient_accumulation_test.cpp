// SPDX-License-Identifier: Apache-2.0
// Several micro-batches give the step of one large batch; what they share and what is their own.
#include "workloads/transforms/gradient_accumulation.hpp"

#include <gtest/gtest.h>

#include <set>

#include "gpusizer/error.hpp"
#include "workloads/program/facts.hpp"
#include "workloads/program/layers.hpp"
#include "workloads/program/optimizer.hpp"
#include "workloads/transforms/mixed_precision.hpp"
#include "workloads/transforms/tests/small_step.hpp"

namespace gpusizer {
namespace {

Program training(const Differentiated& step, OptimizerOptions options = {}) {
  return add_optimizer(step.program, step.gradients, options);
}

class Accumulation : public testing::TestWithParam<int64_t> {};

TEST_P(Accumulation, LearnsAsTheLargeBatchDoes) {
  const int64_t count = GetParam();
  SmallRun large("reference", training(differentiate(small_net(12))));
  SmallRun parts("reference", training(accumulate_gradients(differentiate(small_net(12 / count)), count)), count);
  for (int step = 0; step < 4; ++step) {
    const StepResult wanted = large.step(step, 0.3f), got = parts.step(step, 0.3f);
    EXPECT_NEAR(got.loss, wanted.loss, 1e-12 * wanted.loss);
    EXPECT_EQ(got.correct, wanted.correct);
  }
  for (const char* name : {"first.weight", "last.bias", "first.weight:momentum"}) {
    const auto wanted = large.read(name), got = parts.read(name);
    for (size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(got[i], wanted[i], 1e-6) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Counts, Accumulation, testing::Values(1, 2, 3, 6));

TEST(GradientAccumulation, TheCpuAgreesWithTheReference) {
  const Program program = training(accumulate_gradients(differentiate(rich_net(4)), 3));
  SmallRun reference("reference", program, 3), cpu("cpu", program, 3);
  for (int step = 0; step < 3; ++step) EXPECT_NEAR(cpu.step(step, 0.01f).loss, reference.step(step, 0.01f).loss, 1e-4);
}

TEST(GradientAccumulation, SharesParametersAndDoublesTheBatch) {
  const Differentiated one = differentiate(rich_net(4)), two = accumulate_gradients(one, 2);
  EXPECT_EQ(two.program.batch, 8);
  EXPECT_EQ(two.gradients.size(), one.gradients.size());
  EXPECT_EQ(facts(training(two)).parameters, facts(training(one)).parameters);
  EXPECT_EQ(facts(training(two)).flops_per_sample, facts(training(one)).flops_per_sample);
  EXPECT_TRUE(two.program.find("x@0") && two.program.find("x@1") && !two.program.find("x"));
  for (size_t i = 0; i < one.gradients.size(); ++i) {
    EXPECT_EQ(two.program.tensor(two.gradients[i].first).name, one.program.tensor(one.gradients[i].first).name);
    EXPECT_EQ(two.program.tensor(two.gradients[i].second).name, one.program.tensor(one.gradients[i].second).name);
  }
}

TEST(GradientAccumulation, EachMicroBatchDropsOthers) {
  const Differentiated step = accumulate_gradients(differentiate(rich_net(4)), 3);
  std::multiset<uint32_t> streams;
  for (const Operation& op : step.program.operations)
    if (op.kind == OpKind::dropout) streams.insert(std::get<DropoutAttributes>(op.attributes).stream);
  EXPECT_EQ(streams, (std::multiset<uint32_t>{0, 1, 2}));
}

TEST(GradientAccumulation, RunningStatisticsAreUpdatedInOrder) {
  ProgramBuilder b("images", 2);
  const TensorId x = b.input("x", {2, 3, 4, 4}), labels = b.input("labels", {2}, DType::i32);
  classification_loss(b, linear(b, "fc", flatten(b, "f", batch_norm(b, "n", x, true)), 2), labels);
  const Program p = accumulate_gradients(differentiate(b.finish()), 2).program;
  std::vector<TensorId> read;
  for (const Operation& op : p.operations)
    if (op.kind == OpKind::batch_norm) read.push_back(op.inputs[0]);
  EXPECT_EQ(read, (std::vector{p.find("x@0")->id, p.find("x@1")->id}));
}

TEST(GradientAccumulation, KeepsSumsOfGradientsExactInMixedPrecision) {
  const Differentiated step =
      mixed_precision(accumulate_gradients(differentiate(small_net(4)), 2), Precision::fp16);
  EXPECT_EQ(step.program.find("first:grad_weight@1")->dtype, DType::f16);
  EXPECT_EQ(step.program.find("first:grad_weight")->dtype, DType::f32);
  int casts = 0;
  for (const Operation& op : step.program.operations)
    casts += op.kind == OpKind::cast && op.layer == "first.weight:f16";
  EXPECT_EQ(casts, 1) << "all micro-batches use the same cast";
  SmallRun run("reference", training(step, {.momentum = 0}), 2);
  SmallRun plain("reference", training(accumulate_gradients(differentiate(small_net(4)), 2), {.momentum = 0}), 2);
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(run.step(i, 0.1f).loss, plain.step(i, 0.1f).loss, 2e-3);
}

TEST(GradientAccumulation, RefusesWhatCannotBe) {
  const Differentiated step = differentiate(small_net(4));
  EXPECT_THROW(accumulate_gradients(step, 0), Error);
  EXPECT_THROW(accumulate_gradients({training(step), step.gradients}, 2), Error);
  EXPECT_THROW(accumulate_gradients({small_net(4), {}}, 2), Error);
}

}  // namespace
}  // namespace gpusizer
