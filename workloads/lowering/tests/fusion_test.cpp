// SPDX-License-Identifier: Apache-2.0
// The shape of fused programs: what each rule takes, what it leaves alone, and that pairs of forward and backward stay.
#include "workloads/lowering/fusion.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "workloads/lowering/plain_target.hpp"
#include "workloads/models/models.hpp"
#include "workloads/program/layers.hpp"
#include "workloads/program/optimizer.hpp"

namespace gpusizer {
namespace {

int64_t count(const Program& p, OpKind kind) { return std::ranges::count(p.operations, kind, &Operation::kind); }

const Operation& only(const Program& p, OpKind kind) {
  EXPECT_EQ(count(p, kind), 1);
  return *std::ranges::find(p.operations, kind, &Operation::kind);
}

std::vector<std::string> names(const Program& p, const std::vector<TensorId>& ids) {
  std::vector<std::string> list;
  for (const TensorId id : ids) list.push_back(p.tensor(id).name);
  return list;
}

using Names = std::vector<std::string>;

Program trained(ProgramBuilder& b, TensorId x) {
  const TensorId labels = b.input("labels", {2}, DType::i32);
  classification_loss(b, linear(b, "fc", flatten(b, "flatten", x), 3), labels);
  return training_program(b.finish(), {});
}

struct Net {
  ProgramBuilder b{"net", 2};
  TensorId x = b.input("x", {2, 4, 6, 6});
};

void expect_pairs(const Program& p) {
  check_program(p);
  for (const Operation& op : p.operations) {
    if (op.phase != Phase::backward || op.kind == OpKind::add) continue;
    ASSERT_GE(op.forward_op, 0) << op.layer;
    const Operation& forward = p.operations[static_cast<size_t>(op.forward_op)];
    EXPECT_EQ(forward.phase, Phase::forward);
    if (op.kind != OpKind::relu_backward) {
      EXPECT_EQ(forward.layer, op.layer);
    }
  }
}

TEST(FuseConvRelu, TakesTheReluAndItsBackwardLooksAtTheResult) {
  Net n;
  Program p = trained(n.b, relu(n.b, "relu", conv2d(n.b, "conv", n.x, {.channels = 4, .kernel = 3, .bias = true})));
  EXPECT_EQ(fuse_conv_relu.apply(p), 1);
  expect_pairs(p);
  EXPECT_EQ(count(p, OpKind::relu), 0);
  const Operation& conv = only(p, OpKind::conv2d);
  EXPECT_TRUE(std::get<ConvAttributes>(conv.attributes).relu);
  EXPECT_EQ(names(p, conv.outputs), Names{"relu"});
  const Operation& backward = only(p, OpKind::relu_backward);
  EXPECT_EQ(names(p, backward.inputs), (Names{"flatten:grad_input", "relu"}));
  EXPECT_EQ(backward.forward_op, 0);
  EXPECT_EQ(fuse_conv_relu.apply(p), 0) << "a second time finds nothing";
}

TEST(FuseConvRelu, LeavesAResultWithTwoReaders) {
  Net n;
  const TensorId y = conv2d(n.b, "conv", n.x, {.channels = 4, .kernel = 1});
  Program p = trained(n.b, add(n.b, "add", relu(n.b, "relu", y), y));
  EXPECT_EQ(fuse_conv_relu.apply(p), 0);
  EXPECT_EQ(count(p, OpKind::relu), 1);
}

TEST(FuseBatchNormRelu, IsOneOperationEachWay) {
  Net n;
  Program p = trained(n.b, relu(n.b, "relu", batch_norm(n.b, "bn", n.x, true)));
  EXPECT_EQ(fuse_batch_norm_relu.apply(p), 1);
  expect_pairs(p);
  EXPECT_EQ(count(p, OpKind::relu) + count(p, OpKind::relu_backward), 0);
  const Operation& norm = only(p, OpKind::batch_norm);
  EXPECT_EQ(names(p, norm.outputs), (Names{"relu", "bn:saved", "bn.running_mean", "bn.running_var"}));
  const Operation& backward = only(p, OpKind::batch_norm_backward);
  EXPECT_EQ(names(p, backward.inputs), (Names{"flatten:grad_input", "x", "bn.weight", "bn:saved"}));
  EXPECT_EQ(names(p, backward.outputs), (Names{"bn:grad_input", "bn:grad_weight", "bn:grad_bias"}));
  EXPECT_TRUE(std::get<NormAttributes>(backward.attributes).relu);
  EXPECT_FALSE(std::get<NormAttributes>(backward.attributes).residual);
}

TEST(FuseBatchNormRelu, WorksWithoutABackward) {
  for (const bool training : {false, true}) {
    Net n;
    relu(n.b, "relu", batch_norm(n.b, "bn", n.x, training));
    Program p = n.b.finish();
    EXPECT_EQ(fuse_batch_norm_relu.apply(p), 1);
    expect_pairs(p);
    ASSERT_EQ(p.operations.size(), 1u);
    EXPECT_EQ(p.operations[0].outputs.size(), training ? 4u : 1u);
    EXPECT_EQ(names(p, p.operations[0].outputs)[0], "relu");
  }
}

// relu(bn(x) + x): the masked gradient goes to both sides.
TEST(FuseBatchNormAddRelu, HandsOnTheMaskedGradientForTheResidual) {
  Net n;
  const TensorId start = conv2d(n.b, "conv0", n.x, {.channels = 4, .kernel = 1});
  const TensorId y = batch_norm(n.b, "bn", conv2d(n.b, "conv1", start, {.channels = 4, .kernel = 1}), true);
  Program p = trained(n.b, relu(n.b, "relu", add(n.b, "add", start, y)));
  EXPECT_EQ(fuse_batch_norm_relu.apply(p), 0);
  EXPECT_EQ(fuse_batch_norm_add_relu.apply(p), 1);
  expect_pairs(p);
  const Operation& norm = only(p, OpKind::batch_norm);
  EXPECT_EQ(names(p, norm.inputs), (Names{"conv1", "bn.weight", "bn.bias", "bn.running_mean", "bn.running_var", "conv0"}));
  const Operation& backward = only(p, OpKind::batch_norm_backward);
  EXPECT_EQ(names(p, backward.outputs), (Names{"bn:grad_input", "bn:grad_weight", "bn:grad_bias", "relu:grad_input"}));
  const Operation& sum = only(p, OpKind::add);
  EXPECT_EQ(names(p, sum.inputs), (Names{"relu:grad_input", "conv1:grad_input"}));
}

TEST(FuseBatchNormAddRelu, OfTwoBatchNormsTakesTheFirstAddend) {
  Net n;
  const TensorId first = batch_norm(n.b, "bn1", n.x, true), second = batch_norm(n.b, "bn2", n.x, true);
  Program p = trained(n.b, relu(n.b, "relu", add(n.b, "add", second, first)));
  EXPECT_EQ(fuse_batch_norm_add_relu.apply(p), 1);
  expect_pairs(p);
  for (const Operation& op : p.operations)
    if (op.kind == OpKind::batch_norm) {
      EXPECT_EQ(std::get<NormAttributes>(op.attributes).residual, op.layer == "bn2");
    }
  const auto backward = std::ranges::find_if(p.operations, [](const Operation& op) {
    return op.kind == OpKind::batch_norm_backward && op.layer == "bn1";
  });
  EXPECT_EQ(names(p, backward->inputs)[0], "relu:grad_input") << "the other one reads the masked gradient";
}

TEST(FuseBatchNormAddRelu, LeavesABatchNormAddedToItself) {
  Net n;
  const TensorId y = batch_norm(n.b, "bn", n.x, true);
  Program p = trained(n.b, relu(n.b, "relu", add(n.b, "add", y, y)));
  EXPECT_EQ(fuse_batch_norm_add_relu.apply(p), 0);
  EXPECT_EQ(fuse_add_relu.apply(p), 1);
  expect_pairs(p);
}

// A normalisation by running statistics lets no gradient through, while the residual's must be masked: no kernel both ways.
TEST(FuseBatchNormAddRelu, LeavesAPatternWithHalfABackward) {
  Net n;
  const TensorId start = conv2d(n.b, "conv", n.x, {.channels = 4, .kernel = 1});
  const TensorId scale = n.b.scalar("scale", 1, DType::f32, {4}), mean = n.b.scalar("mean", 0, DType::f32, {4});
  const TensorId fixed = n.b.apply(OpKind::batch_norm, "bn", {n.x, scale, mean, mean, scale},
                                   NormAttributes{.training = false})[0];
  Program p = trained(n.b, relu(n.b, "relu", add(n.b, "add", start, fixed)));
  EXPECT_EQ(fuse_batch_norm_add_relu.apply(p), 0);
}

// relu's result is used three times: two sums, of which the last is taken into the backward.
TEST(GradientSums, TheLastAddIsTakenIn) {
  const auto build = [](bool norm) {
    Net n;
    const TensorId start = conv2d(n.b, "conv", n.x, {.channels = 4, .kernel = 1});
    const TensorId y = norm ? batch_norm(n.b, "bn", start, true) : add(n.b, "add", start, n.x);
    const TensorId r = relu(n.b, "relu", y);
    const auto branch = [&](const char* name) { return conv2d(n.b, name, r, {.channels = 4, .kernel = 1}); };
    const TensorId ab = add(n.b, "ab", branch("a"), branch("b"));
    return trained(n.b, add(n.b, "abc", ab, branch("c")));
  };
  Program p = build(true);
  fuse_batch_norm_relu.apply(p);
  expect_pairs(p);
  const Operation& norm = only(p, OpKind::batch_norm_backward);
  EXPECT_EQ(std::get<NormAttributes>(norm.attributes).gradients, 2);
  EXPECT_EQ(names(p, norm.inputs), (Names{"relu:grad_sum1", "b:grad_input", "conv", "bn.weight", "bn:saved"}));
  p = build(false);
  EXPECT_EQ(fuse_add_relu.apply(p), 1);
  expect_pairs(p);
  const Operation& relu_backward = only(p, OpKind::relu_backward);
  EXPECT_EQ(std::get<ReluAttributes>(relu_backward.attributes).gradients, 2);
  EXPECT_EQ(names(p, relu_backward.inputs), (Names{"relu:grad_sum1", "b:grad_input", "relu:saved"}));
}

TEST(FuseAddRelu, KeepsAReluBackward) {
  Net n;
  const TensorId start = conv2d(n.b, "conv", n.x, {.channels = 4, .kernel = 1});
  Program p = trained(n.b, relu(n.b, "relu", add(n.b, "add", start, n.x)));
  EXPECT_EQ(fuse_add_relu.apply(p), 1);
  expect_pairs(p);
  EXPECT_EQ(count(p, OpKind::relu), 0);
  const Operation& sum = only(p, OpKind::add);
  EXPECT_TRUE(std::get<AddAttributes>(sum.attributes).relu);
  EXPECT_EQ(names(p, sum.outputs), (Names{"relu", "relu:saved"}));
  EXPECT_EQ(p.operations[static_cast<size_t>(only(p, OpKind::relu_backward).forward_op)].layer, "add");
  EXPECT_EQ(keep_relu_result.apply(p), 1);
  EXPECT_EQ(names(p, only(p, OpKind::relu_backward).inputs).back(), "relu");
}

TEST(KeepReluResult, EveryReluBackwardReadsTheResult) {
  Net n;
  Program p = trained(n.b, relu(n.b, "relu", conv2d(n.b, "conv", n.x, {.channels = 4, .kernel = 1})));
  EXPECT_EQ(keep_relu_result.apply(p), 1);
  EXPECT_EQ(names(p, only(p, OpKind::relu_backward).inputs).back(), "relu");
  EXPECT_EQ(keep_relu_result.apply(p), 0);
}

TEST(Fusion, ResNetHasNoReluAndNoResidualAddLeft) {
  for (const char* model : {"resnet8", "resnet18", "resnet50"})
    for (const Mode mode : {Mode::train, Mode::evaluate}) {
      Program p = build_model(find_model(model), {}, 2, mode);
      if (mode == Mode::train) p = training_program(p, {});
      const int64_t norms = count(p, OpKind::batch_norm);
      const Program fused = lower(p, plain_target(false)).program;
      expect_pairs(fused);
      EXPECT_EQ(count(fused, OpKind::relu), 0) << model;
      EXPECT_EQ(count(fused, OpKind::relu_backward), 0) << model;
      EXPECT_EQ(count(fused, OpKind::batch_norm), norms);
      for (const Operation& op : fused.operations)
        if (op.kind == OpKind::add) {  // only max-pool has no backward that could take a sum in
          EXPECT_EQ(op.layer, "maxpool:grad_sum1") << model;
        }
    }
}

// norm(drop(x W) + x): the residual is the drop's third input, and both gradients are that of the sum.
TEST(FuseDropoutAdd, AddsTheResidual) {
  for (const bool residual_first : {false, true}) {
    ProgramBuilder b{"net", 2};
    const TensorId x = linear(b, "pre", b.input("x", {2, 4}), 4);
    const TensorId y = dropout(b, "drop", linear(b, "dense", x, 4), 0.5);
    Program p = trained(b, residual_first ? add(b, "add", x, y) : add(b, "add", y, x));
    EXPECT_EQ(fuse_dropout_add.apply(p), 1);
    expect_pairs(p);
    const Operation& drop = only(p, OpKind::dropout);
    EXPECT_TRUE(std::get<DropoutAttributes>(drop.attributes).residual);
    EXPECT_EQ(names(p, drop.inputs), (Names{"dense", "random_state", "pre"}));
    EXPECT_EQ(names(p, drop.outputs), (Names{"add", "drop:saved"}));
    EXPECT_EQ(names(p, only(p, OpKind::dropout_backward).inputs), (Names{"flatten:grad_input", "drop:saved"}));
    EXPECT_EQ(fuse_dropout_add.apply(p), 0) << "a second time finds nothing";
  }
}

TEST(FuseDropoutAdd, LeavesAResultWithTwoReaders) {
  ProgramBuilder b{"net", 2};
  const TensorId y = dropout(b, "drop", linear(b, "dense", b.input("x", {2, 4}), 4), 0.5);
  Program p = trained(b, add(b, "add", y, linear(b, "other", y, 4)));
  EXPECT_EQ(fuse_dropout_add.apply(p), 0);
  Program twice = [] {
    ProgramBuilder c{"net", 2};
    const TensorId z = dropout(c, "drop", linear(c, "dense", c.input("x", {2, 4}), 4), 0.5);
    return trained(c, add(c, "add", z, z));
  }();
  EXPECT_EQ(fuse_dropout_add.apply(twice), 0);
}

}  // namespace
}  // namespace gpusizer
