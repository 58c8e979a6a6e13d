// SPDX-License-Identifier: Apache-2.0
// What does not fit is refused when the program is built, naming the layer and both shapes.
#include "workloads/program/builder.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "gpusizer/error.hpp"
#include "workloads/program/layers.hpp"

namespace gpusizer {
namespace {

struct Refusal {
  const char* name;
  std::function<void(ProgramBuilder&)> build;
  std::vector<const char*> named;  // all of them stand in the message
};

TensorId image(ProgramBuilder& b, Shape shape = {2, 6, 8, 8}) { return b.input("x", std::move(shape)); }
TensorId weight(ProgramBuilder& b, Shape shape) { return b.persistent("w", std::move(shape), Role::parameter, {}); }

const Refusal refusals[] = {
    {"conv channels", [](auto& b) { b.apply(OpKind::conv2d, "c1", {image(b), weight(b, {4, 5, 3, 3})}, ConvAttributes{}); },
     {"conv2d 'c1'", "[2, 6, 8, 8]", "[4, 5, 3, 3]"}},
    {"conv kernel", [](auto& b) { b.apply(OpKind::conv2d, "c1", {image(b), weight(b, {4, 6, 9, 9})}, ConvAttributes{}); },
     {"conv2d 'c1'", "[2, 6, 8, 8]", "[4, 6, 9, 9]"}},
    {"conv rank", [](auto& b) { b.apply(OpKind::conv2d, "c1", {image(b, {2, 6}), weight(b, {4, 6, 3, 3})}, ConvAttributes{}); },
     {"conv2d 'c1'", "[2, 6]", "[4, 6, 3, 3]"}},
    {"conv stride", [](auto& b) { b.apply(OpKind::conv2d, "c1", {image(b), weight(b, {4, 6, 3, 3})}, ConvAttributes{0}); },
     {"conv2d 'c1'", "stride 0"}},
    {"conv bias", [](auto& b) {
       const TensorId bias = b.persistent("b", {5}, Role::parameter, {});
       b.apply(OpKind::conv2d, "c1", {image(b), weight(b, {4, 6, 3, 3}), bias}, ConvAttributes{});
     }, {"conv2d 'c1'", "[5]", "[4, 6, 3, 3]"}},
    {"conv layer groups", [](auto& b) { conv2d(b, "c1", image(b), {.channels = 4, .groups = 4}); },
     {"'c1'", "4 groups", "6 input", "4 output"}},
    {"conv layer rank", [](auto& b) { conv2d(b, "c1", image(b, {2, 6}), {.channels = 4}); }, {"'c1'", "[2, 6]"}},
    {"norm channels", [](auto& b) {
       const TensorId five = b.persistent("five", {5}, Role::parameter, {});
       b.apply(OpKind::batch_norm, "n1", {image(b), five, five, five, five}, NormAttributes{});
     }, {"batch_norm 'n1'", "[5]", "[2, 6, 8, 8]"}},
    {"norm of one value", [](auto& b) { batch_norm(b, "n1", image(b, {1, 6, 1, 1}), true); },
     {"batch_norm 'n1'", "[1, 6, 1, 1]"}},
    {"norm residual", [](auto& b) {
       const TensorId six = b.persistent("six", {6}, Role::parameter, {});
       const TensorId other = b.input("other", {2, 6, 4, 4});
       b.apply(OpKind::batch_norm, "n1", {image(b), six, six, six, six, other}, NormAttributes{.residual = true});
     }, {"batch_norm 'n1'", "[2, 6, 4, 4]", "[2, 6, 8, 8]"}},
    {"add", [](auto& b) { add(b, "a1", image(b), b.input("y", {2, 6, 4, 4})); }, {"add 'a1'", "[2, 6, 8, 8]", "[2, 6, 4, 4]"}},
    {"pool kernel", [](auto& b) { max_pool(b, "p1", image(b), {.kernel = 9}); }, {"max_pool 'p1'", "kernel 9", "[2, 6, 8, 8]"}},
    {"pool padding", [](auto& b) { avg_pool(b, "p1", image(b), {.kernel = 3, .padding = 2}); }, {"avg_pool 'p1'", "padding 2"}},
    {"pool rank", [](auto& b) { max_pool(b, "p1", image(b, {2, 6}), {}); }, {"max_pool 'p1'", "[2, 6]"}},
    {"global pool", [](auto& b) { global_avg_pool(b, "p1", image(b, {2, 6, 8, 4})); }, {"'p1'", "[2, 6, 8, 4]"}},
    {"flatten", [](auto& b) { flatten(b, "f1", image(b, {2})); }, {"flatten 'f1'", "[2]"}},
    {"linear", [](auto& b) { b.apply(OpKind::linear, "l1", {image(b, {2, 6}), weight(b, {3, 5})}); },
     {"linear 'l1'", "[2, 6]", "[3, 5]"}},
    {"linear bias", [](auto& b) {
       const TensorId bias = b.persistent("b", {4}, Role::parameter, {});
       b.apply(OpKind::linear, "l1", {image(b, {2, 6}), weight(b, {3, 6}), bias});
     }, {"linear 'l1'", "[4]", "[3, 6]"}},
    {"dropout", [](auto& b) { dropout(b, "d1", image(b), 1.0); }, {"dropout 'd1'", "rate 1"}},
    {"labels", [](auto& b) { classification_loss(b, image(b, {2, 6}), b.input("labels", {3}, DType::i32)); },
     {"'loss'", "[3]", "[2, 6]"}},
    {"label type", [](auto& b) { classification_loss(b, image(b, {2, 6}), b.input("labels", {2})); }, {"'loss'", "i32"}},
    {"sgd", [](auto& b) {
       b.apply(OpKind::sgd, "w", {weight(b, {3, 5}), image(b, {5, 3}), b.scalar("lr", 0)}, SgdAttributes{}, Phase::update);
     }, {"sgd 'w'", "[5, 3]", "[3, 5]"}},
    {"relu gradients", [](auto& b) {
       b.apply(OpKind::relu_backward, "r1", {image(b), b.input("y", {2, 6}), b.input("z", {2, 6})}, ReluAttributes{2},
               Phase::backward);
     }, {"relu_backward 'r1'", "[2, 6, 8, 8]", "[2, 6]"}},
    {"norm gradient", [](auto& b) {
       const TensorId six = b.persistent("six", {6}, Role::parameter, {});
       b.apply(OpKind::batch_norm_backward, "n1", {image(b), b.input("y", {2, 6, 4, 4}), six, six}, NormAttributes{},
               Phase::backward);
     }, {"batch_norm_backward 'n1'", "[2, 6, 8, 8]", "[2, 6, 4, 4]"}},
    {"conv gradient", [](auto& b) {
       b.apply(OpKind::conv2d_backward_data, "c1", {image(b), weight(b, {6, 3, 3, 3})},
               ConvAttributes{.input_height = 8, .input_width = 8}, Phase::backward);
     }, {"conv2d_backward_data 'c1'", "[2, 6, 8, 8]", "[6, 3, 3, 3]"}},
    {"conv weights' gradient", [](auto& b) {
       b.apply(OpKind::conv2d_backward_weights, "c1", {image(b), b.input("dy", {2, 5, 6, 6}), weight(b, {4, 6, 3, 3})},
               ConvAttributes{}, Phase::backward);
     }, {"conv2d_backward_weights 'c1'", "[2, 5, 6, 6]", "[4, 6, 3, 3]"}},
    {"linear gradient", [](auto& b) {
       b.apply(OpKind::linear_backward_data, "l1", {image(b, {2, 6}), weight(b, {3, 5})}, {}, Phase::backward);
     }, {"linear_backward_data 'l1'", "[2, 6]", "[3, 5]"}},
    {"linear weights' gradient", [](auto& b) {
       b.apply(OpKind::linear_backward_weights, "l1", {image(b, {2, 6}), b.input("dy", {2, 4}), weight(b, {3, 6})}, {},
               Phase::backward);
     }, {"linear_backward_weights 'l1'", "[2, 4]", "[3, 6]"}},
    {"too few inputs", [](auto& b) { b.apply(OpKind::add, "a1", {image(b)}, AddAttributes{}); }, {"add 'a1'", "inputs"}},
    {"name taken", [](auto& b) { relu(b, "x", image(b)); }, {"'x'"}},
    {"empty extent", [](auto& b) { image(b, {2, 0, 8}); }, {"'x'", "[2, 0, 8]"}},
    {"beyond all memory", [](auto& b) { image(b, {2, std::numeric_limits<int64_t>::max(), 8}); }, {"'x'", "elements"}},
};

TEST(ProgramBuilder, RefusalsNameTheLayerAndTheShapes) {
  for (const Refusal& refusal : refusals) {
    ProgramBuilder b{"refused", 2};
    try {
      refusal.build(b);
      ADD_FAILURE() << refusal.name << " was not refused";
    } catch (const Error& e) {
      EXPECT_EQ(e.fault(), Fault::usage) << refusal.name;
      for (const char* part : refusal.named)
        EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << refusal.name << ": " << e.what();
    }
  }
}

TEST(ProgramBuilder, ForeignAttributesAreRefused) {
  ProgramBuilder b{"refused", 2};
  const TensorId x = image(b);
  try {
    b.apply(OpKind::add, "a1", {x, x}, PoolAttributes{});
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("add 'a1'"), std::string::npos) << e.what();
  }
}

TEST(ProgramBuilder, RefusesABatchBelowOne) {
  for (const int64_t batch : {0, -3}) EXPECT_THROW((ProgramBuilder{"none", batch}), Error);
}

TEST(ProgramBuilder, ShapesFollowTheUsualRules) {
  ProgramBuilder b{"shapes", 2};
  const TensorId x = image(b, {2, 6, 9, 7});
  EXPECT_EQ(b.shape(conv2d(b, "c1", x, {.channels = 4, .kernel = 3, .stride = 2, .padding = 1, .groups = 2})),
            (Shape{2, 4, 5, 4}));
  EXPECT_EQ(b.program().find("c1.weight")->shape, (Shape{4, 3, 3, 3}));
  EXPECT_EQ(b.shape(max_pool(b, "p1", x, {.kernel = 3, .stride = 2, .padding = 1})), (Shape{2, 6, 5, 4}));
  EXPECT_EQ(b.shape(avg_pool(b, "p2", x, {.kernel = 2, .stride = 2})), (Shape{2, 6, 4, 3}));
  EXPECT_EQ(b.shape(linear(b, "l1", flatten(b, "f1", x), 5)), (Shape{2, 5}));
}

TEST(ProgramBuilder, InPlaceOutputsAreTheInputs) {
  ProgramBuilder b{"norm", 2};
  batch_norm(b, "n1", image(b), true);
  const Operation& op = b.program().operations[0];
  EXPECT_EQ(op.outputs[2], op.inputs[3]);
  EXPECT_EQ(op.outputs[3], op.inputs[4]);
}

TEST(ProgramBuilder, EachDropoutHasItsOwnRandomNumbers) {
  ProgramBuilder b{"dropouts", 2};
  dropout(b, "d2", dropout(b, "d1", image(b), 0.5), 0.25);
  const auto& ops = b.program().operations;
  EXPECT_EQ(ops[0].inputs[1], ops[1].inputs[1]) << "one random state";
  EXPECT_NE(std::get<DropoutAttributes>(ops[0].attributes).stream, std::get<DropoutAttributes>(ops[1].attributes).stream);
}

}  // namespace
}  // namespace gpusizer
