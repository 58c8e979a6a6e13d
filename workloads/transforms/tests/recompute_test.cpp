// SPDX-License-Identifier: Apache-2.0
// Computing activations again saves memory and changes no number.
#include "workloads/transforms/recompute.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "gpusizer/error.hpp"
#include "workloads/lowering/memory_plan.hpp"
#include "workloads/lowering/plain_target.hpp"
#include "workloads/program/layers.hpp"
#include "workloads/program/optimizer.hpp"
#include "workloads/program/sequence_layers.hpp"
#include "workloads/transforms/gradient_accumulation.hpp"
#include "workloads/transforms/mixed_precision.hpp"
#include "workloads/transforms/model_blocks.hpp"
#include "workloads/transforms/tests/whole_step.hpp"

namespace gpusizer {
namespace {

Program with_updates(const Differentiated& step) { return add_optimizer(step.program, step.gradients, {}); }

int64_t peak_bytes(const Differentiated& step, const Target& target) {
  const LoweredProgram lowered = lower(with_updates(step), target);
  const MemoryPlan plan = plan_memory(std::span(&lowered, 1));
  EXPECT_EQ(check_plan(std::span(&lowered, 1), plan), std::vector<std::string>{});
  return plan.transient_bytes;
}

Differentiated sized_model(const std::string& name, const ModelOptions& options, int64_t batch) {
  return differentiate(build_model(find_model(name), options, batch, Mode::train));
}

TEST(Recompute, BertMiniNeedsLessThanHalfTheMemory) {
  const Differentiated step = sized_model("bert-mini", {.vocabulary = 200, .sequence = 128}, 8);
  const Differentiated again = recompute(step);
  EXPECT_LT(2 * peak_bytes(again, plain_target()), peak_bytes(step, plain_target()));
  EXPECT_LT(2 * peak_bytes(again, plain_unfused_target()), peak_bytes(step, plain_unfused_target()));
}

TEST(Recompute, EveryFamilyNeedsLess) {
  const auto saves = [](const Differentiated& step) {
    return static_cast<double>(peak_bytes(recompute(step), plain_target())) /
           static_cast<double>(peak_bytes(step, plain_target()));
  };
  EXPECT_LT(saves(sized_model("resnet18", {.image_size = 64}, 4)), 0.8);
  EXPECT_LT(saves(sized_model("temporal", {.layers = 6}, 4)), 0.5);
  EXPECT_LT(saves(sized_model("lstm", {.layers = 4}, 4)), 0.8);
}

TEST(Recompute, LossesParametersAndStatisticsStayBitEqual) {
  for (const char* name : {"bert-mini", "temporal", "lstm", "resnet8"})
    for (const int64_t micro_batches : {1, 2}) {
      const Differentiated step = differentiate(small_model(name, 3, 2));
      WholeRun plain(with_updates(accumulate_gradients(step, micro_batches)));
      WholeRun again(with_updates(accumulate_gradients(recompute(step), micro_batches)));
      for (int i = 0; i < 3; ++i) EXPECT_EQ(again.step(i).loss, plain.step(i).loss) << name;
      for (const std::string& tensor : plain.parameters()) EXPECT_EQ(again.read(tensor), plain.read(tensor)) << tensor;
    }
}

TEST(Recompute, WorksInHalfPrecision) {
  const Differentiated step = differentiate(small_model("bert-mini", 3, 2));
  WholeRun plain(with_updates(mixed_precision(step, Precision::bf16)));
  WholeRun again(with_updates(mixed_precision(recompute(step), Precision::bf16)));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(again.step(i).loss, plain.step(i).loss);
}

TEST(Recompute, BackwardLooksAtWhatWasMadeLast) {
  const Differentiated again = recompute(differentiate(small_model("temporal", 3, 2)));
  int repeated = 0;
  for (const Operation& op : again.program.operations) {
    repeated += op.layer.ends_with(again_suffix);
    if (op.layer.ends_with(again_suffix)) {
      EXPECT_EQ(op.phase, Phase::backward);
    }
    if (op.kind != OpKind::attention_backward) continue;
    const Operation& forward = again.program.operations[static_cast<size_t>(op.forward_op)];
    EXPECT_EQ(forward.layer, op.layer + std::string(again_suffix));
    const auto made_there = [&](TensorId id) { return std::ranges::count(forward.outputs, id) > 0; };
    EXPECT_TRUE(std::ranges::any_of(op.inputs, made_there));
  }
  EXPECT_GT(repeated, 3 * 5);
}

TEST(Recompute, WithoutBlocksStretchesAreRepeated) {
  ProgramBuilder b("chain", 256);
  TensorId x = b.input("x", {256, 16});
  for (int i = 0; i < 16; ++i) x = gelu(b, fmt::format("gelu{}", i), linear(b, fmt::format("fc{}", i), x, 16));
  b.set_loss(b.apply(OpKind::mse_loss, "loss", {x, b.input("targets", {256, 16})}, {})[0]);
  const Differentiated step = differentiate(b.finish()), again = recompute(step);
  int64_t repeated = 0;
  for (const Operation& op : again.program.operations) repeated += op.layer.ends_with(again_suffix);
  EXPECT_GT(repeated, 16);
  EXPECT_LT(2 * peak_bytes(again, plain_target()), peak_bytes(step, plain_target()));
}

TEST(Recompute, WhatRanksExchangedIsKept) {
  Differentiated step = differentiate(small_model("temporal", 2, 2));
  for (Operation& op : step.program.operations)
    if (op.kind == OpKind::add && op.layer == "encoder.layer.1.output.add") {
      // As tensor parallelism puts it behind a layer.
      const TensorId before = op.inputs[0];
      Tensor t = step.program.tensor(before);
      t.id = TensorId{static_cast<int32_t>(step.program.tensors.size())};
      t.name += ":reduced";
      step.program.tensors.push_back(t);
      op.inputs[0] = t.id;
      const Operation reduce{
          OpKind::all_reduce, "encoder.layer.1.output.reduce", {before}, {t.id}, CollectiveAttributes{0, {0, 1}, {}},
          Phase::communicate};
      const auto place = step.program.operations.begin() + (&op - step.program.operations.data());
      step.program.operations.insert(place, reduce);
      break;
    }
  for (Operation& op : step.program.operations) op.forward_op = -1;
  const Differentiated again = recompute(step);
  EXPECT_EQ(std::ranges::count(again.program.operations, OpKind::all_reduce, &Operation::kind), 1);
}

TEST(Recompute, RefusesAProgramWithoutGradients) {
  EXPECT_THROW(recompute({small_model("temporal", 2, 2), {}}), Error);
}

}  // namespace
}  // namespace gpusizer
