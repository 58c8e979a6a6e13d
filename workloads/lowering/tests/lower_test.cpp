// SPDX-License-Identifier: Apache-2.0
// Lowering as a whole: a golden dump of a small block, what is dropped, and when updates run.
#include <gtest/gtest.h>

#include <algorithm>

#include "gpusizer/error.hpp"
#include "workloads/lowering/dump_lowered.hpp"
#include "workloads/lowering/lowered_program.hpp"
#include "workloads/lowering/plain_target.hpp"
#include "workloads/lowering/schedule.hpp"
#include "workloads/models/models.hpp"
#include "workloads/program/autodiff.hpp"
#include "workloads/program/dump.hpp"
#include "workloads/program/layers.hpp"
#include "workloads/program/operations.hpp"
#include "workloads/program/optimizer.hpp"

namespace gpusizer {
namespace {

// relu(bn(conv(x)) + x) with a classifier.
Program block(Mode mode) {
  ProgramBuilder b{"block", 2};
  const TensorId x = b.input("x", {2, 4, 4, 4}), labels = b.input("labels", {2}, DType::i32);
  const TensorId y = batch_norm(b, "bn", conv2d(b, "conv", x, {.channels = 4, .kernel = 3, .padding = 1}),
                                mode == Mode::train);
  classification_loss(b, linear(b, "fc", flatten(b, "flatten", relu(b, "relu", add(b, "add", y, x))), 3), labels);
  return b.finish();
}

constexpr const char* golden = R"(target plain
program block batch=2
tensor %0 x f32 [2, 4, 4, 4] input
tensor %1 labels i32 [2] input
tensor %2 conv.weight f32 [4, 4, 3, 3] parameter
tensor %4 bn.weight f32 [4] parameter
tensor %5 bn.bias f32 [4] parameter
tensor %6 bn.running_mean f32 [4] state
tensor %7 bn.running_var f32 [4] state
tensor %14 fc.weight f32 [3, 64] parameter
tensor %15 fc.bias f32 [3] parameter
tensor %20 loss:grad f32 [] scalar
tensor %31 learning_rate f32 [] scalar
forward  %3 [2, 4, 4, 4] = conv2d(%0, %2) stride=1 padding=1 groups=1  # conv
forward  %11 [2, 4, 4, 4], %9 [], %6 [4], %7 [4] = batch_norm(%3, %4, %5, %6, %7, %0) epsilon=1e-05 momentum=0.1 residual relu  # bn
forward  %13 [2, 64] = flatten(%11)  # flatten
forward  %16 [2, 3] = linear(%13, %14, %15)  # fc
forward  %17 [], %18 [], %19 [] = softmax_cross_entropy(%16, %1) label_smoothing=0  # loss
backward %21 [2, 3] = softmax_cross_entropy_backward(%20, %1, %19, %16) label_smoothing=0  # loss
backward %22 [3, 64], %23 [3] = linear_backward_weights(%13, %21, %14, %15)  # fc
update   %15 [3] = sgd(%15, %23, %31) momentum=0 weight_decay=0.0001  # fc.bias
backward %24 [2, 64] = linear_backward_data(%21, %14)  # fc
update   %14 [3, 64] = sgd(%14, %22, %31) momentum=0 weight_decay=0.0001  # fc.weight
backward %25 [2, 4, 4, 4] = flatten_backward(%24)  # flatten
backward %27 [2, 4, 4, 4], %28 [4], %29 [4], %26 [2, 4, 4, 4] = batch_norm_backward(%25, %3, %4, %9) epsilon=1e-05 momentum=0.1 residual relu  # bn
update   %4 [4] = sgd(%4, %28, %31) momentum=0 weight_decay=0.0001  # bn.weight
update   %5 [4] = sgd(%5, %29, %31) momentum=0 weight_decay=0.0001  # bn.bias
backward %30 [4, 4, 3, 3] = conv2d_backward_weights(%0, %27, %2) stride=1 padding=1 groups=1  # conv
update   %2 [4, 4, 3, 3] = sgd(%2, %30, %31) momentum=0 weight_decay=0.0001  # conv.weight
loss %17
bytes %0 x input 512
bytes %1 labels input 8
bytes %2 conv.weight parameter 576
bytes %3 conv activation 512
bytes %4 bn.weight parameter 16
bytes %5 bn.bias parameter 16
bytes %6 bn.running_mean state 16
bytes %7 bn.running_var state 16
bytes %9 bn:saved saved 160
bytes %11 relu activation 512
bytes %13 flatten activation 512
bytes %14 fc.weight parameter 768
bytes %15 fc.bias parameter 12
bytes %16 fc activation 24
bytes %17 loss activation 4
bytes %18 loss:correct activation 4
bytes %19 loss:saved saved 24
bytes %20 loss:grad scalar 4
bytes %21 loss:grad_input gradient 24
bytes %22 fc:grad_weight gradient 768
bytes %23 fc:grad_bias gradient 12
bytes %24 fc:grad_input gradient 512
bytes %25 flatten:grad_input gradient 512
bytes %26 relu:grad_input gradient 512
bytes %27 bn:grad_input gradient 512
bytes %28 bn:grad_weight gradient 16
bytes %29 bn:grad_bias gradient 16
bytes %30 conv:grad_weight gradient 576
bytes %31 learning_rate scalar 4
)";

TEST(Lower, ABlockIsWhatItWas) {
  EXPECT_EQ(dump(lower(training_program(block(Mode::train), {.momentum = 0}), plain_target())), golden);
}

TEST(Lower, IsPure) {
  const Program p = training_program(block(Mode::train), {});
  const std::string before = dump(p);
  EXPECT_EQ(dump(lower(p, plain_target())), dump(lower(p, plain_target())));
  EXPECT_EQ(dump(p), before);
}

TEST(Lower, UntouchedTensorsTakeNothing) {
  const LoweredProgram lowered = lower(training_program(block(Mode::train), {}), plain_target());
  const auto bytes = [&](const char* name) {
    return lowered.tensor_bytes[static_cast<size_t>(lowered.program.find(name)->id.index)];
  };
  for (const char* gone : {"bn", "add", "relu:saved"}) EXPECT_EQ(bytes(gone), 0) << gone;
  EXPECT_EQ(bytes("relu"), 4 * 2 * 64);
  EXPECT_EQ(bytes("labels"), 8);
  EXPECT_EQ(bytes("bn:saved"), 8 * 4 + 2 * 64);
}

TEST(Lower, RefusesATargetThatGivesNegativeSizes) {
  Target target = plain_target();
  target.tensor_bytes = [](const Tensor&) { return int64_t{-1}; };
  EXPECT_THROW(lower(block(Mode::evaluate), target), Error);
}

TEST(DropUnusedOperations, KeepsWhatLeadsToAResult) {
  ProgramBuilder b{block(Mode::evaluate)};
  const TensorId aside = relu(b, "aside", b.program().find("x")->id);
  relu(b, "behind", aside);
  Program p = b.finish();
  const size_t count = p.operations.size();
  drop_unused_operations(p);
  EXPECT_EQ(p.operations.size(), count - 2);
  drop_unused_operations(p);
  EXPECT_EQ(p.operations.size(), count - 2);
}

TEST(DropUnusedOperations, KeepsTheGradientsOfAProgramWithoutOptimizer) {
  Program p = differentiate(block(Mode::train)).program;
  const size_t count = p.operations.size();
  drop_unused_operations(p);
  EXPECT_EQ(p.operations.size(), count);
  const auto kept = results(p);
  for (const char* name : {"conv:grad_weight", "fc:grad_weight", "fc:grad_bias", "bn:grad_bias", "loss", "loss:correct"})
    EXPECT_EQ(std::ranges::count(kept, p.find(name)->id), 1) << name;
}

TEST(DropUnusedOperations, LeavesAProgramThatLeadsNowhereAlone) {
  ProgramBuilder b{"one", 1};
  relu(b, "relu", b.input("x", {4}));
  Program p = b.finish();
  drop_unused_operations(p);
  EXPECT_EQ(p.operations.size(), 1u);
}

TEST(UpdateEarly, EachUpdateFollowsWhatItWaitsFor) {
  for (const char* model : {"resnet8", "alexnet"}) {
    Program p = training_program(build_model(find_model(model), {}, 2, Mode::train), {});
    const size_t count = p.operations.size();
    update_early(p);
    check_program(p);
    ASSERT_EQ(p.operations.size(), count);
    const auto read_by = readers(p);
    const auto written_by = writers(p);
    for (size_t i = 0; i < count; ++i) {
      if (p.operations[i].phase != Phase::update) continue;
      const TensorId parameter = p.operations[i].inputs[0], gradient = p.operations[i].inputs[1];
      EXPECT_EQ(read_by[static_cast<size_t>(parameter.index)].back(), static_cast<int32_t>(i)) << "nobody reads it later";
      size_t before = i;  // only updates stand between it and what it waits for
      while (p.operations[before].phase == Phase::update) --before;
      const auto& readers_of = read_by[static_cast<size_t>(parameter.index)];
      const int32_t last = std::max(readers_of[readers_of.size() - 2], written_by[static_cast<size_t>(gradient.index)]);
      EXPECT_EQ(static_cast<int32_t>(before), last) << p.operations[i].layer;
    }
    for (const Operation& op : p.operations)
      if (op.forward_op >= 0) {
        EXPECT_EQ(p.operations[static_cast<size_t>(op.forward_op)].layer, op.layer);
      }
  }
}

// y = x w is read after an update of w made from x itself: the update must stay behind it, and an operation that reads the new w after.
TEST(UpdateEarly, NeverPassesAReaderOfTheOldValue) {
  ProgramBuilder b{"order", 2};
  const TensorId w = b.persistent("w", {2, 2}, Role::parameter, {}), x = b.input("x", {2, 2}), rate = b.scalar("learning_rate", 0);
  const auto update = [&](const char* name) {
    b.apply(OpKind::sgd, name, {w, x, rate}, SgdAttributes{}, Phase::update);
  };
  b.apply(OpKind::relu, "first", {x}, ReluAttributes{});
  b.apply(OpKind::linear, "old", {x, w});
  b.apply(OpKind::relu, "second", {x}, ReluAttributes{});
  update("update1");
  b.apply(OpKind::linear, "new", {x, w});
  b.apply(OpKind::relu, "third", {x}, ReluAttributes{});
  update("update2");
  Program p = b.finish();
  update_early(p);
  std::vector<std::string> order;
  for (const Operation& op : p.operations) order.push_back(op.layer);
  EXPECT_EQ(order, (std::vector<std::string>{"first", "old", "update1", "second", "new", "update2", "third"}));
}

}  // namespace
}  // namespace gpusizer
