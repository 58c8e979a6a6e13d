// SPDX-License-Identifier: Apache-2.0
// Rules of the operations over rows and of the updates: what does not fit is refused by name; shapes; what is counted.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "gpusizer/error.hpp"
#include "workloads/program/autodiff.hpp"
#include "workloads/program/facts.hpp"
#include "workloads/program/layers.hpp"
#include "workloads/program/sequence_layers.hpp"

namespace gpusizer {
namespace {

struct Refusal {
  const char* name;
  std::function<void(ProgramBuilder&)> build;
  std::vector<const char*> named;  // all of them stand in the message
};

TensorId rows(ProgramBuilder& b, Shape shape = {6, 12}) { return b.input("x", std::move(shape)); }
TensorId weight(ProgramBuilder& b, const char* name, Shape shape) { return b.persistent(name, std::move(shape), Role::parameter, {}); }
TensorId whole(ProgramBuilder& b, Shape shape) { return b.input("ids", std::move(shape), DType::i32); }

void apply_lstm(ProgramBuilder& b, const Shape& w_ih, const Shape& w_hh, const Shape& bias, int64_t steps) {
  b.apply(OpKind::lstm, "r1", {rows(b), weight(b, "ih", w_ih), weight(b, "hh", w_hh), weight(b, "b1", bias), weight(b, "b2", bias)},
          LstmAttributes{steps});
}

const Refusal refusals[] = {
    {"gather rank", [](auto& b) { b.apply(OpKind::gather_rows, "g1", {rows(b, {2, 3, 4})}, GatherAttributes{.rows = 1}); },
     {"gather_rows 'g1'", "[2, 3, 4]"}},
    {"gather beyond", [](auto& b) { b.apply(OpKind::gather_rows, "g1", {rows(b)}, GatherAttributes{.rows = 3, .offset = 2, .stride = 2}); },
     {"gather_rows 'g1'", "row 6", "6"}},
    {"gather period", [](auto& b) { b.apply(OpKind::gather_rows, "g1", {rows(b)}, GatherAttributes{.rows = 9, .period = 7}); },
     {"gather_rows 'g1'", "row 6"}},
    {"gather nothing", [](auto& b) { b.apply(OpKind::gather_rows, "g1", {rows(b)}, GatherAttributes{}); }, {"gather_rows 'g1'"}},
    {"gather indices", [](auto& b) { b.apply(OpKind::gather_rows, "g1", {rows(b), whole(b, {4})}, GatherAttributes{.rows = 5}); },
     {"gather_rows 'g1'", "[4]", "5"}},
    {"gather by numbers", [](auto& b) { b.apply(OpKind::gather_rows, "g1", {rows(b), b.input("f", {5})}, GatherAttributes{.rows = 5}); },
     {"gather_rows 'g1'", "f32"}},
    {"gather gradient", [](auto& b) {
       b.apply(OpKind::gather_rows_backward, "g1", {b.input("dy", {4, 3}), rows(b)}, GatherAttributes{.rows = 4});
     }, {"gather_rows_backward 'g1'", "[4, 3]", "[6, 12]"}},
    {"swap", [](auto& b) { b.apply(OpKind::swap_axes, "s1", {rows(b)}, SwapAttributes{2, 4}); }, {"swap_axes 's1'", "[6, 12]", "2 x 4"}},
    {"layer norm rank", [](auto& b) { layer_norm(b, "n1", rows(b, {6})); }, {"'n1'", "[6]"}},
    {"layer norm scale", [](auto& b) {
       b.apply(OpKind::layer_norm, "n1", {rows(b), weight(b, "w", {11}), weight(b, "s", {12})}, LayerNormAttributes{});
     }, {"layer_norm 'n1'", "[11]", "[6, 12]"}},
    {"attention sequence", [](auto& b) { b.apply(OpKind::attention, "a1", {rows(b)}, AttentionAttributes{2, 4}); },
     {"attention 'a1'", "[6, 12]", "4"}},
    {"attention heads", [](auto& b) { b.apply(OpKind::attention, "a1", {rows(b)}, AttentionAttributes{3, 2}); },
     {"attention 'a1'", "[6, 12]", "3 heads"}},
    {"attention rate", [](auto& b) { b.apply(OpKind::attention, "a1", {rows(b)}, AttentionAttributes{2, 2, false, 1.0}); },
     {"attention 'a1'", "rate 1"}},
    {"attention mask missing", [](auto& b) { b.apply(OpKind::attention, "a1", {rows(b)}, AttentionAttributes{2, 2, true}); },
     {"attention 'a1'", "inputs"}},
    {"attention lengths", [](auto& b) { b.apply(OpKind::attention, "a1", {rows(b), whole(b, {2})}, AttentionAttributes{2, 2, true}); },
     {"attention 'a1'", "[2]"}},
    {"attention gradient", [](auto& b) {
       b.apply(OpKind::attention_backward, "a1", {b.input("dy", {6, 3}), rows(b), b.input("y", {6, 4}), b.input("s", {1})},
               AttentionAttributes{2, 2});
     }, {"attention_backward 'a1'", "[6, 3]", "[6, 4]"}},
    {"lstm steps", [](auto& b) { apply_lstm(b, {8, 12}, {8, 2}, {8}, 4); }, {"lstm 'r1'", "[6, 12]", "4 time steps"}},
    {"lstm input", [](auto& b) { apply_lstm(b, {8, 11}, {8, 2}, {8}, 3); }, {"lstm 'r1'", "[8, 11]", "[6, 12]"}},
    {"lstm hidden", [](auto& b) { apply_lstm(b, {8, 12}, {8, 3}, {8}, 3); }, {"lstm 'r1'", "[8, 3]"}},
    {"lstm bias", [](auto& b) { apply_lstm(b, {8, 12}, {8, 2}, {4}, 3); }, {"lstm 'r1'", "[4]"}},
    {"mse", [](auto& b) { b.apply(OpKind::mse_loss, "loss", {rows(b), b.input("t", {6, 11})}); }, {"mse_loss 'loss'", "[6, 11]", "[6, 12]"}},
    {"pinball", [](auto& b) { b.apply(OpKind::pinball_loss, "loss", {rows(b), b.input("t", {6, 5})}, QuantileAttributes{{0.1, 0.9}}); },
     {"pinball_loss 'loss'", "[6, 5]", "[6, 12]", "2 quantiles"}},
    {"quantile order", [](auto& b) { b.apply(OpKind::pinball_loss, "loss", {rows(b), b.input("t", {6, 6})}, QuantileAttributes{{0.9, 0.1}}); },
     {"pinball_loss 'loss'", "ascend"}},
    {"quantile range", [](auto& b) { b.apply(OpKind::pinball_loss, "loss", {rows(b), b.input("t", {6, 12})}, QuantileAttributes{{1.0}}); },
     {"pinball_loss 'loss'", "between 0 and 1"}},
    {"gelu gradient", [](auto& b) { b.apply(OpKind::gelu_backward, "u1", {b.input("dy", {6, 3}), rows(b)}); },
     {"gelu_backward 'u1'", "[6, 3]", "[6, 12]"}},
    {"cast", [](auto& b) { b.apply(OpKind::cast, "c1", {rows(b)}, CastAttributes{DType::i32}); }, {"cast 'c1'", "i32"}},
    {"adam inputs", [](auto& b) {
       const TensorId w = weight(b, "w", {6, 12});
       b.apply(OpKind::adam, "w1", {w, rows(b), b.scalar("rate", 0), w, w}, AdamAttributes{}, Phase::update);
     }, {"adam 'w1'", "5 inputs", "6"}},
    {"adagrad gradient", [](auto& b) {
       const TensorId w = weight(b, "w", {6, 11});
       b.apply(OpKind::adagrad, "w1", {w, rows(b), b.scalar("rate", 0), w}, AdagradAttributes{}, Phase::update);
     }, {"adagrad 'w1'", "[6, 12]", "[6, 11]"}},
    {"norm of nothing", [](auto& b) { b.apply(OpKind::gradient_norm, "n1", {rows(b)}, GradientNormAttributes{1, true}, Phase::update); },
     {"gradient_norm 'n1'", "no gradients"}},
    {"norm clip", [](auto& b) { b.apply(OpKind::gradient_norm, "n1", {rows(b)}, GradientNormAttributes{-1}, Phase::update); },
     {"gradient_norm 'n1'", "-1"}},
};

TEST(SequenceRules, RefusalsNameTheLayerAndTheShapes) {
  for (const Refusal& refusal : refusals) {
    ProgramBuilder b{"refused", 6};
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

TEST(SequenceRules, ShapesFollow) {
  ProgramBuilder b{"shapes", 6};
  const TensorId x = rows(b);
  EXPECT_EQ(b.shape(b.apply(OpKind::attention, "a", {x}, AttentionAttributes{2, 3})[0]), (Shape{6, 4}));
  EXPECT_EQ(b.shape(lstm(b, "r", x, 5, 3)), (Shape{6, 5}));
  EXPECT_EQ(b.shape(every_row(b, "e", x, 2, 3, 1)), (Shape{2, 12}));
  EXPECT_EQ(b.program().tensor(b.apply(OpKind::cast, "c", {x}, CastAttributes{DType::bf16})[0]).dtype, DType::bf16);
}

// A loss over the rows of `y`, so that the program can be differentiated.
Program with_loss(ProgramBuilder& b, TensorId y) {
  const TensorId targets = b.input("targets", b.shape(y));
  b.set_loss(b.apply(OpKind::mse_loss, "loss", {y, targets})[0], {});
  return b.finish();
}

TEST(SequenceRules, MultiplicationsOfAttentionAndLstmAreCounted) {
  ProgramBuilder b{"counts", 2};
  const TensorId x = linear(b, "pre", rows(b), 12);
  const TensorId y = b.apply(OpKind::attention, "a", {x}, AttentionAttributes{2, 3})[0];
  const Program p = with_loss(b, lstm(b, "r", y, 5, 3));
  const int64_t macs = 6 * 12 * 12 + 2 * 6 * 3 * 4 + 6 * (20 * 4 + 20 * 5);
  EXPECT_EQ(facts(p).forward_macs_per_sample, macs / 2);
}

TEST(SequenceRules, AnLstmOfTheInputHasNoGradientForIt) {
  ProgramBuilder b{"first", 2};
  const TensorId first = lstm(b, "r1", rows(b), 5, 3);
  const Differentiated d = differentiate(with_loss(b, lstm(b, "r2", first, 4, 3)));
  const auto outputs = [&](const std::string& layer) {
    const auto is = [&](const Operation& op) { return op.kind == OpKind::lstm_backward && op.layer == layer; };
    return std::ranges::find_if(d.program.operations, is)->outputs.size();
  };
  EXPECT_EQ(outputs("r1"), 4u);
  EXPECT_EQ(outputs("r2"), 5u);
}

TEST(SequenceRules, ATableUsedTwiceGetsOneGradient) {
  ProgramBuilder b{"tied", 4};
  const TensorId x = embedding(b, "words", whole(b, {4}), 7, 3);
  const TensorId words = b.program().find("words.weight")->id;
  const Differentiated d = differentiate(with_loss(b, b.apply(OpKind::linear, "decoder", {x, words})[0]));
  ASSERT_EQ(d.gradients.size(), 1u);
  EXPECT_EQ(d.gradients[0].first, words);
  EXPECT_EQ(d.program.tensor(d.gradients[0].second).shape, (Shape{7, 3}));
}

}  // namespace
}  // namespace gpusizer
