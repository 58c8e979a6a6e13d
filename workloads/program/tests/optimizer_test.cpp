// SPDX-License-Identifier: Apache-2.0
// Which updates, states and outputs each optimizer adds to a program.
#include "workloads/program/optimizer.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "gpusizer/error.hpp"
#include "workloads/program/layers.hpp"

namespace gpusizer {
namespace {

Program one_layer() {
  ProgramBuilder b{"net", 2};
  const TensorId x = b.input("x", {2, 3}), labels = b.input("labels", {2}, DType::i32);
  classification_loss(b, linear(b, "fc", x, 4), labels);
  return b.finish();
}

std::vector<const Operation*> updates(const Program& p, OpKind kind) {
  std::vector<const Operation*> list;
  for (const Operation& op : p.operations)
    if (op.kind == kind) list.push_back(&op);
  return list;
}

TEST(Optimizer, EachKindUpdatesEachParameterAndKeepsItsStates) {
  const std::pair<OptimizerKind, std::vector<const char*>> cases[] = {
      {OptimizerKind::sgd, {":momentum"}},
      {OptimizerKind::adam, {":m", ":v"}},
      {OptimizerKind::adamw, {":m", ":v"}},
      {OptimizerKind::adagrad, {":sum"}},
      {OptimizerKind::lamb, {":m", ":v"}},
  };
  for (const auto& [kind, states] : cases) {
    const Program p = training_program(one_layer(), {.kind = kind});
    for (const char* parameter : {"fc.weight", "fc.bias"})
      for (const char* state : states) {
        const Tensor* t = p.find(std::string(parameter) + state);
        ASSERT_NE(t, nullptr) << to_string(kind) << state;
        EXPECT_EQ(t->role, Role::optimizer_state);
      }
    EXPECT_EQ(p.find("optimizer:steps") != nullptr, kind != OptimizerKind::sgd && kind != OptimizerKind::adagrad);
    EXPECT_EQ(optimizer_kind(to_string(kind)), kind);
    EXPECT_TRUE(p.outputs.empty());
  }
  EXPECT_THROW(optimizer_kind("adamax"), Error);
}

TEST(Optimizer, ClippingComesBeforeTheUpdatesAndIsAnOutput) {
  const Program p = training_program(one_layer(), {.kind = OptimizerKind::adamw, .clip_norm = 1});
  const auto norms = updates(p, OpKind::gradient_norm), adams = updates(p, OpKind::adam);
  ASSERT_EQ(norms.size(), 1u);
  ASSERT_EQ(adams.size(), 2u);
  EXPECT_EQ(norms[0]->inputs.size(), 2u);
  for (const Operation* op : adams) EXPECT_EQ(op->inputs.back(), norms[0]->outputs[0]);
  ASSERT_EQ(p.outputs.size(), 2u);
  EXPECT_EQ(p.outputs[0].name, "gradient_factor");
  EXPECT_EQ(p.outputs[1].value, norms[0]->outputs[1]);
}

TEST(Optimizer, VectorsCanBeLeftOutOfTheDecay) {
  const Program p =
      training_program(one_layer(), {.weight_decay = 0.1, .kind = OptimizerKind::adamw, .l1 = 0.2, .decay_vectors = false});
  for (const Operation* op : updates(p, OpKind::adam)) {
    const auto& a = std::get<AdamAttributes>(op->attributes);
    const bool matrix = op->layer == "fc.weight";
    EXPECT_EQ(a.update.weight_decay, matrix ? 0.1 : 0.0);
    EXPECT_EQ(a.update.l1, matrix ? 0.2 : 0.0);
    EXPECT_TRUE(a.decoupled);
  }
}

TEST(Optimizer, WhatCannotBeIsRefused) {
  for (const OptimizerOptions& o : {OptimizerOptions{.l1 = -1}, OptimizerOptions{.clip_norm = -1},
                                    OptimizerOptions{.beta1 = 1}, OptimizerOptions{.beta2 = -0.1}})
    EXPECT_THROW(training_program(one_layer(), o), Error);
}

}  // namespace
}  // namespace gpusizer
