// SPDX-License-Identifier: Apache-2.0
// The structure of differentiated programs: which backward operations there are, and what passes where.
#include "workloads/program/autodiff.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "gpusizer/error.hpp"
#include "workloads/program/layers.hpp"
#include "workloads/program/optimizer.hpp"

namespace gpusizer {
namespace {

struct Net {
  ProgramBuilder b{"net", 2};
  TensorId x = b.input("x", {2, 6});
  TensorId labels = b.input("labels", {2}, DType::i32);

  Program end(TensorId logits) {
    classification_loss(b, logits, labels);
    return b.finish();
  }
};

std::vector<const Operation*> backward_of(const Program& p, OpKind kind) {
  std::vector<const Operation*> list;
  for (const Operation& op : p.operations)
    if (op.kind == kind && op.phase == Phase::backward) list.push_back(&op);
  return list;
}

TEST(Differentiate, TwoUsersLeaveOneAdd) {
  Net n;
  const TensorId h = relu(n.b, "h", linear(n.b, "l0", n.x, 4));
  const Program p = differentiate(n.end(add(n.b, "sum", linear(n.b, "l1", h, 3), linear(n.b, "l2", h, 3)))).program;
  const auto adds = backward_of(p, OpKind::add);
  ASSERT_EQ(adds.size(), 1u);
  EXPECT_EQ(p.tensor(adds[0]->outputs[0]).name, "h:grad_sum1");
  EXPECT_EQ(p.tensor(adds[0]->outputs[0]).role, Role::gradient);
  EXPECT_EQ(backward_of(p, OpKind::relu_backward)[0]->inputs[0], adds[0]->outputs[0]);
}

TEST(Differentiate, ThreeUsersLeaveTwoAdds) {
  Net n;
  const TensorId h = linear(n.b, "l0", n.x, 3);
  const TensorId logits = add(n.b, "s2", add(n.b, "s1", relu(n.b, "r1", h), relu(n.b, "r2", h)), h);
  EXPECT_EQ(backward_of(differentiate(n.end(logits)).program, OpKind::add).size(), 2u);
}

TEST(Differentiate, AddPassesTheSameGradientToBothSides) {
  Net n;
  const TensorId logits = add(n.b, "sum", linear(n.b, "l1", n.x, 3), linear(n.b, "l2", n.x, 3));
  const Program p = differentiate(n.end(logits)).program;
  const auto weights = backward_of(p, OpKind::linear_backward_weights);
  ASSERT_EQ(weights.size(), 2u);
  EXPECT_EQ(weights[0]->inputs[1], weights[1]->inputs[1]);
  EXPECT_TRUE(backward_of(p, OpKind::add).empty());
}

TEST(Differentiate, TheFirstLayerGetsNoGradientForItsInput) {
  Net n;
  const Program forward = n.end(linear(n.b, "l2", relu(n.b, "r", linear(n.b, "l1", n.x, 4)), 3));
  const Differentiated plain = differentiate(forward);
  EXPECT_EQ(backward_of(plain.program, OpKind::linear_backward_data).size(), 1u);
  const Differentiated with_input = differentiate(forward, {forward.find("x")->id});
  EXPECT_EQ(backward_of(with_input.program, OpKind::linear_backward_data).size(), 2u);
  EXPECT_EQ(with_input.gradients.size(), plain.gradients.size() + 1);
  EXPECT_EQ(with_input.gradients.back().first, forward.find("x")->id) << "appended to the list";
}

TEST(Differentiate, LayersBeforeTheFirstParameterHaveNoBackward) {
  Net n;
  const Program p = differentiate(n.end(linear(n.b, "l1", relu(n.b, "early", n.x), 3))).program;
  EXPECT_TRUE(backward_of(p, OpKind::relu_backward).empty());
}

TEST(Differentiate, GradientsComeInTheOrderInWhichTheyGetReady) {
  Net n;
  const Program forward = n.end(linear(n.b, "l2", linear(n.b, "l1", n.x, 4), 3));
  const Differentiated d = differentiate(forward);
  std::vector<std::string> order;
  for (const auto& [parameter, gradient] : d.gradients) {
    order.push_back(d.program.tensor(parameter).name);
    EXPECT_EQ(d.program.tensor(parameter).shape, d.program.tensor(gradient).shape);
  }
  EXPECT_EQ(order, (std::vector<std::string>{"l2.weight", "l2.bias", "l1.weight", "l1.bias"}));
}

TEST(Differentiate, PairsNameTheirForwardOperation) {
  Net n;
  const Program p = differentiate(n.end(linear(n.b, "l2", relu(n.b, "r", linear(n.b, "l1", n.x, 4)), 3))).program;
  for (const Operation& op : p.operations) {
    if (op.phase != Phase::backward) continue;
    ASSERT_GE(op.forward_op, 0);
    EXPECT_EQ(p.operations[static_cast<size_t>(op.forward_op)].layer, op.layer);
  }
}

TEST(Differentiate, AParameterThatTheLossDoesNotReachIsRefused) {
  Net n;
  linear(n.b, "aside", n.x, 4);
  const Program forward = n.end(linear(n.b, "l1", n.x, 3));
  try {
    differentiate(forward);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.fault(), Fault::usage);
    EXPECT_NE(std::string(e.what()).find("'aside.weight'"), std::string::npos) << e.what();
  }
}

TEST(Differentiate, AProgramWithoutALossIsRefused) {
  Net n;
  linear(n.b, "l1", n.x, 3);
  EXPECT_THROW(differentiate(n.b.finish()), Error);
}

TEST(TrainingProgram, UpdatesEveryParameterOnce) {
  Net n;
  const Program p = training_program(n.end(linear(n.b, "l1", n.x, 3)), {.momentum = 0.9, .weight_decay = 0.01});
  std::vector<std::string> updated;
  for (const Operation& op : p.operations) {
    if (op.phase != Phase::update) continue;
    updated.push_back(op.layer);
    EXPECT_EQ(op.outputs[0], op.inputs[0]) << "in place";
    EXPECT_EQ(op.outputs[1], op.inputs[3]);
    EXPECT_EQ(p.tensor(op.inputs[3]).name, op.layer + ":momentum");
  }
  EXPECT_EQ(updated, (std::vector<std::string>{"l1.weight", "l1.bias"}));
}

TEST(TrainingProgram, WithoutMomentumThereIsNoState) {
  Net n;
  const Program p = training_program(n.end(linear(n.b, "l1", n.x, 3)), {.momentum = 0});
  EXPECT_TRUE(std::ranges::none_of(p.tensors, [](const Tensor& t) { return t.role == Role::optimizer_state; }));
}

TEST(TrainingProgram, RefusesConstantsThatCannotBe) {
  Net n;
  const Program p = n.end(linear(n.b, "l1", n.x, 3));
  for (const OptimizerOptions& o : {OptimizerOptions{1.0, 0}, OptimizerOptions{-0.1, 0}, OptimizerOptions{0.9, -1}, OptimizerOptions{NAN, 0},
                              OptimizerOptions{0.9, INFINITY}})
    EXPECT_THROW(training_program(p, o), Error);
}

}  // namespace
}  // namespace gpusizer
