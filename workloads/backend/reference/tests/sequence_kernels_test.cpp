// SPDX-License-Identifier: Apache-2.0
// Worked examples of the operations over rows: attention, LSTM, gathers, losses of numbers, ignored labels, short types.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "gpusizer/error.hpp"
#include "workloads/backend/reference/tests/one_run.hpp"
#include "workloads/program/dropout_mask.hpp"
#include "workloads/program/sequence_layers.hpp"

namespace gpusizer {
namespace {

// What is said to data that cannot be; all of `parts` stand in it.
template <class Call>
void expect_refused(Call call, const std::vector<std::string>& parts) {
  try {
    call();
    FAIL() << "was accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.fault(), Fault::input) << e.what();
    for (const std::string& part : parts) EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
  }
}

struct Attended {
  Doubles context, saved;
};

// One head; rows of x are q, k, v.
Attended attend(const Floats& x, int64_t sequence, int64_t size, const Integers& lengths = {}, double rate = 0,
                const Floats& state = {0, 0}) {
  ProgramBuilder b{"case", 1};
  std::vector<TensorId> inputs{b.input("x", {static_cast<int64_t>(x.size()) / (3 * size), 3 * size})};
  if (!lengths.empty()) inputs.push_back(b.input("lengths", {static_cast<int64_t>(lengths.size())}, DType::i32));
  if (rate > 0) inputs.push_back(b.scalar("state", 0, DType::i32, {2}));
  const auto out = b.apply(OpKind::attention, "layer.attention", inputs,
                           AttentionAttributes{1, sequence, !lengths.empty(), rate, 5});
  std::vector<std::pair<std::string, Floats>> start;
  std::vector<std::pair<std::string, Integers>> integers;
  if (rate > 0) start.push_back({"state", state});
  if (!lengths.empty()) integers.push_back({"lengths", lengths});
  const OneRun run{b.finish(), x, start, integers};
  return {run.of(out[0]), run.of(out[1])};
}

// Heads of four values: scores are halved. The first query scores 0 and 2 ln 3 / 2, so it looks at the keys 1 : 3.
TEST(Attention, WeighsValuesByTheSoftmaxOfScaledProducts) {
  const auto ln3 = static_cast<float>(std::log(3.0));
  const Floats x{1, 1, 0, 0, 0, 0, 0, 0, 8, 0, 4, 0,   //
                 0, 0, 0, 0, ln3, ln3, 5, 5, 0, 4, 4, 8};
  const Doubles context = attend(x, 2, 4).context;
  const double share = std::exp(double{ln3}) / (1 + std::exp(double{ln3}));
  expect_near(context, {8 * (1 - share), 4 * share, 4, 8 * share, 4, 2, 4, 4});
  EXPECT_NEAR(share, 0.75, 1e-7);
}

TEST(Attention, LooksAtRealTokensOnly) {
  const Floats x{0, 0, 1, 0, 0, 3, 0, 9, 1000,  //
                 0, 0, 5, 0, 0, 7, 0, 0, 9};
  const Attended out = attend(x, 3, 1, {2, 1});
  expect_near(out.context, {2, 2, 2, 5, 5, 5});
  const Doubles probabilities(out.saved.begin(), out.saved.begin() + 18);
  expect_near(probabilities, {0.5, 0.5, 0, 0.5, 0.5, 0, 0.5, 0.5, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0});
}

TEST(Attention, RefusesLengthsThatCannotBe) {
  const Floats x(18, 1);
  for (const int32_t length : {0, -2, 4})
    expect_refused([&] { attend(x, 3, 1, {2, length}); }, {"layer.attention", std::to_string(length), "sample 1"});
}

// All scores and values equal: what is left of a row is the share of probabilities that were kept.
TEST(Attention, DropsTheProbabilitiesThatTheMaskSays) {
  constexpr int64_t sequence = 6;
  Floats x;
  for (int64_t i = 0; i < 2 * sequence; ++i) x.insert(x.end(), {0, 0, 1});
  const Doubles context = attend(x, sequence, 1, {}, 0.25, {11, 12}).context;
  const uint32_t threshold = dropout_mask::threshold(0.25);
  for (size_t row = 0; row < context.size(); ++row) {
    int kept = 0;
    for (size_t i = row * sequence; i < (row + 1) * sequence; ++i)
      kept += dropout_mask::keep(dropout_mask::words(i / 4, 11, 12, 5)[i % 4], threshold);
    EXPECT_NEAR(context[row], kept / (sequence * 0.75), 1e-12) << row;
  }
}

// The four blocks are input, forget, cell, output. With weights of zero the gates are those of the biases.
TEST(Lstm, GatesStandInTheOrderOfPyTorch) {
  const float on = 50, off = -50;  // 1 and 0 to 22 digits
  const auto hidden = [&](float input, float forget, float cell, float output) {
    ProgramBuilder b{"case", 1};
    const TensorId y = lstm(b, "lstm", b.input("x", {2, 1}), 1, 2);
    return OneRun{b.finish(), {7, 7}, {{"lstm.weight_ih", Floats(4, 0)}, {"lstm.weight_hh", Floats(4, 0)},
                                       {"lstm.bias_ih", {input, forget, cell, output}}, {"lstm.bias_hh", Floats(4, 0)}}}.of(y);
  };
  const double g = std::tanh(double{0.25f});
  expect_near(hidden(on, off, 0.25f, on), {std::tanh(g), std::tanh(g)});
  expect_near(hidden(on, on, 0.25f, on), {std::tanh(g), std::tanh(2 * g)});
  expect_near(hidden(off, on, 0.25f, on), {0, 0});
  expect_near(hidden(on, on, 0.25f, off), {0, 0});
  expect_near(hidden(on, off, 0.25f, 0), {std::tanh(g) / 2, std::tanh(g) / 2});
}

TEST(Lstm, AddsInputStateAndBothBiases) {
  ProgramBuilder b{"case", 2};
  const TensorId y = lstm(b, "lstm", b.input("x", {4, 1}), 1, 2);  // two samples, time outermost
  const float on = 50;
  const OneRun run{b.finish(), {1, 2, 3, 4}, {{"lstm.weight_ih", {0, 0, 0.125f, 0}}, {"lstm.weight_hh", {0, 0, 2, 0}},
                                              {"lstm.bias_ih", {on, -on, 0.5f, on}}, {"lstm.bias_hh", {0, 0, -0.25f, 0}}}};
  const auto step = [](double x, double before) { return std::tanh(std::tanh(0.125 * x + 2 * before + 0.25)); };
  const double first = step(1, 0), second = step(2, 0);
  expect_near(run.of(y), {first, second, step(3, first), step(4, second)});
}

Doubles gathered(const Integers& indices, const GatherAttributes& a) {
  ProgramBuilder b{"case", 1};
  const TensorId x = b.input("x", {4, 1}), chosen = b.input("ids", {static_cast<int64_t>(indices.size())}, DType::i32);
  const TensorId y = b.apply(OpKind::gather_rows, "words", {x, chosen}, a)[0];
  return OneRun{b.finish(), {10, 11, 12, 13}, {}, {{"ids", indices}}}.of(y);
}

TEST(Gather, CountsInsideGroups) {
  expect_near(gathered({3, 0, 3}, {.rows = 3}), {13, 10, 13});
  expect_near(gathered({1, 0, 0, 1}, {.rows = 4, .group_indices = 2, .group_rows = 2}), {11, 10, 12, 13});
}

TEST(Gather, RefusesIndicesThatAreNoRows) {
  for (const int32_t index : {-1, 4})
    expect_refused([&] { gathered({0, index}, {.rows = 2}); }, {"words", std::to_string(index), "place 1", "4 rows"});
  expect_refused([&] { gathered({0, 2}, {.rows = 2, .group_indices = 1, .group_rows = 2}); }, {"words", "2", "2 rows"});
  expect_refused([&] { gathered({0, 0, 0}, {.rows = 3, .group_indices = 1, .group_rows = 2}); }, {"words", "place 2"});
}

TEST(Gather, NumbersRowsByOffsetStrideAndPeriod) {
  ProgramBuilder b{"case", 1};
  const TensorId x = b.input("x", {4, 1});
  const TensorId every = every_row(b, "every", x, 2, 2, 1);
  const TensorId around = b.apply(OpKind::gather_rows, "around", {x}, GatherAttributes{5, 2, 1, 3})[0];
  const TensorId swapped = b.apply(OpKind::swap_axes, "swap", {x}, SwapAttributes{2, 2})[0];
  const OneRun run{b.finish(), {10, 11, 12, 13}};
  expect_near(run.of(every), {11, 13});
  expect_near(run.of(around), {12, 10, 11, 12, 10});
  expect_near(run.of(swapped), {10, 12, 11, 13});
}

TEST(LayerNorm, TakesEachRowByItself) {
  ProgramBuilder b{"case", 1};
  const TensorId y = layer_norm(b, "norm", b.input("x", {2, 2}), 3);
  const OneRun run{b.finish(), {1, 3, 10, 10}, {{"norm.weight", {4, 8}}, {"norm.bias", {0, 1}}}};
  expect_near(run.of(y), {-2, 5, 0, 1});  // deviations of 1 by the root of 1 + 3
}

TEST(Activations, AreTheExactOnes) {
  ProgramBuilder b{"case", 1};
  const TensorId x = b.input("x", {1, 4});
  const TensorId g = gelu(b, "gelu", x), t = tanh(b, "tanh", x);
  const OneRun run{b.finish(), {1, -2, 0, -40}};
  const Doubles y = run.of(g);
  EXPECT_NEAR(y[0], 0.841344746068543, 1e-15);
  EXPECT_NEAR(y[1], -0.0455002638963584, 1e-15);
  EXPECT_EQ(y[2], 0);
  EXPECT_NEAR(y[3], 0, 1e-300);
  expect_near(run.of(t), {std::tanh(1.0), -std::tanh(2.0), 0, -1});
}

TEST(Dropout, AddsAResidualAfterDropping) {
  ProgramBuilder b{"case", 1};
  const TensorId x = b.input("x", {1, 9}), state = b.scalar("state", 0, DType::i32, {2});
  const TensorId r = b.persistent("r", {1, 9}, Role::parameter, {});
  const auto plain = b.apply(OpKind::dropout, "plain", {x, state}, DropoutAttributes{0.5, 1});
  const auto added = b.apply(OpKind::dropout, "added", {x, state, r}, DropoutAttributes{0.5, 1, true});
  const OneRun run{b.finish(), Floats(9, 2), {{"state", {3, 4}}, {"r", Floats(9, 100)}}};
  Doubles wanted = run.of(plain[0]);
  for (double& v : wanted) v += 100;
  expect_near(run.of(added[0]), wanted);
  expect_near(run.of(added[1]), run.of(plain[1]));
}

Doubles regression(OpKind kind, const Attributes& attributes, const Floats& prediction, const Floats& target) {
  ProgramBuilder b{"case", 1};
  const auto n = static_cast<int64_t>(prediction.size()), k = static_cast<int64_t>(target.size());
  const TensorId t = b.persistent("target", {1, k}, Role::state, {});
  const auto out = b.apply(kind, "loss", {b.input("x", {1, n}), t}, attributes);
  const OneRun run{b.finish(), prediction, {{"target", target}}};
  return {run.of(out[0])[0], run.of(out[1])[0]};
}

TEST(Regression, MeansOfSquaresAndAbsolutes) {
  expect_near(regression(OpKind::mse_loss, {}, {1, 5}, {2, 2}), {5, 2});
}

// Quantiles of two targets: 10 is guessed (8, 10, 12), 20 is guessed (21, 24, 20).
TEST(Regression, PinballChargesTooLowByQAndTooHighByTheRest) {
  const auto out = regression(OpKind::pinball_loss, QuantileAttributes{{0.25, 0.5, 0.75}}, {8, 10, 12, 21, 24, 20}, {10, 20});
  expect_near(out, {(2 * 0.25 + 0 + 2 * 0.25 + 1 * 0.75 + 4 * 0.5 + 0) / 6, 2});
}

TEST(Regression, NotANumberStaysOne) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const double v : regression(OpKind::pinball_loss, QuantileAttributes{{0.5}}, {nan}, {1})) EXPECT_TRUE(std::isnan(v));
  for (const double v : regression(OpKind::mse_loss, {}, {nan}, {1})) EXPECT_TRUE(std::isnan(v));
}

// Logits of three samples and two classes: probabilities of class 1 are 1/2, 3/4 and 1/4.
struct Ignoring {
  Doubles loss, correct, count, gradient;
};

Ignoring ignoring(const Integers& labels) {
  ProgramBuilder b{"case", 3};
  const TensorId x = b.input("x", {3, 2}), y = b.input("labels", {3}, DType::i32);
  const LossAttributes a{.ignore_negative = true};
  const auto out = b.apply(OpKind::softmax_cross_entropy, "loss", {x, y}, a);
  const TensorId one = b.scalar("one", 1);
  const auto dx = b.apply(OpKind::softmax_cross_entropy_backward, "loss", {one, y, out[2], x}, a, Phase::backward, 0);
  const auto ln3 = static_cast<float>(std::log(3.0));
  const OneRun run{b.finish(), {0, 0, 0, ln3, ln3, 0}, {}, {{"labels", labels}}};
  return {run.of(out[0]), run.of(out[1]), run.of(out[3]), run.of(dx[0])};
}

TEST(SoftmaxCrossEntropy, LeavesNegativeLabelsOut) {
  const Ignoring out = ignoring({-1, 1, 1});
  EXPECT_NEAR(out.loss[0], (std::log(4.0 / 3) + std::log(4.0)) / 2, 1e-7);
  EXPECT_EQ(out.correct[0], 1);
  EXPECT_EQ(out.count[0], 2);
  const Doubles wanted{0, 0, 0.125, -0.125, 0.375, -0.375};
  for (size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(out.gradient[i], wanted[i], 1e-7) << i;
}

TEST(SoftmaxCrossEntropy, OfNoLabelsIsNothing) {
  const Ignoring out = ignoring({-1, -100, -1});
  EXPECT_EQ(out.loss[0], 0);
  EXPECT_EQ(out.correct[0], 0);
  EXPECT_EQ(out.count[0], 0);
  EXPECT_EQ(out.gradient, Doubles(6, 0));
}

TEST(SoftmaxCrossEntropy, RefusesATooLargeLabelEvenThen) {
  expect_refused([] { ignoring({-1, 2, 0}); }, {"loss", "label 2", "sample 1"});
}

TEST(ShortTypes, ResultsAreRoundedToTheirType) {
  ProgramBuilder b{"case", 1};
  const TensorId x = b.input("x", {1, 3});
  const TensorId half = b.apply(OpKind::cast, "half", {x}, CastAttributes{DType::f16})[0];
  const TensorId brain = b.apply(OpKind::cast, "brain", {x}, CastAttributes{DType::bf16})[0];
  const TensorId tensor = b.apply(OpKind::cast, "tensor", {x}, CastAttributes{DType::tf32})[0];
  const TensorId back = b.apply(OpKind::cast, "back", {half}, CastAttributes{})[0];
  const OneRun run{b.finish(), {1 + 0x1p-9f, 1 + 0x1p-11f + 0x1p-20f, 1e5f}};
  EXPECT_EQ(run.of(half), (Doubles{1 + 0x1p-9, 1 + 0x1p-10, std::numeric_limits<double>::infinity()}));
  EXPECT_EQ(run.of(brain), (Doubles{1, 1, 99840}));
  EXPECT_EQ(run.of(tensor), (Doubles{1 + 0x1p-9, 1 + 0x1p-10, 99968}));
  EXPECT_EQ(run.of(back), run.of(half));
}

TEST(ShortTypes, InputsAreNotBoundAsThem) {
  ProgramBuilder b{"case", 1};
  gelu(b, "gelu", b.input("x", {1, 2}, DType::f16));
  const Program p = b.finish();
  try {
    OneRun{p, {1, 2}};
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("'x' cannot be bound"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace gpusizer
