// SPDX-License-Identifier: Apache-2.0
// Worked examples of what finite differences cannot tell: statistics, padding, ties, smoothing, masks, updates.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "gpusizer/error.hpp"
#include "workloads/backend/reference/tests/one_run.hpp"
#include "workloads/program/dropout_mask.hpp"
#include "workloads/program/layers.hpp"
#include "workloads/program/optimizer.hpp"

namespace gpusizer {
namespace {

TEST(Convolution, IsACrossCorrelationOverTheGroups) {
  ProgramBuilder b{"case", 1};
  const TensorId y = conv2d(b, "conv", b.input("x", {1, 2, 2, 2}),
                            {.channels = 2, .kernel = 3, .padding = 1, .groups = 2, .bias = true});
  Floats weight(18, 0);
  weight[4] = 2;   // group 0: the pixel itself, twice
  weight[9 + 5] = 1;  // group 1: the right neighbour
  const OneRun run{b.finish(), {1, 2, 3, 4, 5, 6, 7, 8}, {{"conv.weight", weight}, {"conv.bias", {0.5, -0.5}}}};
  expect_near(run.of(y), {2.5, 4.5, 6.5, 8.5, 5.5, -0.5, 7.5, -0.5});
}

TEST(BatchNorm, NormalisesByTheBiasedAndRemembersTheUnbiasedVariance) {
  ProgramBuilder b{"case", 2};
  const TensorId y = batch_norm(b, "bn", b.input("x", {2, 1, 1, 2}), true);
  const OneRun run{b.finish(), {1, 3, 5, 7}};  // mean 4, biased variance 5, unbiased 20 / 3
  const double s = std::sqrt(5 + 1e-5);
  expect_near(run.of(y), {-3 / s, -1 / s, 1 / s, 3 / s});
  expect_near(run.of("bn.running_mean"), {0.4});
  expect_near(run.of("bn.running_var"), {0.9 + 0.1 * 20 / 3});
}

TEST(BatchNorm, EvaluatesByTheRunningStatisticsAndLeavesThem) {
  ProgramBuilder b{"case", 1};
  const TensorId y = batch_norm(b, "bn", b.input("x", {1, 1, 1, 2}), false);
  const OneRun run{b.finish(), {3, 5}, {{"bn.running_mean", {1}}, {"bn.running_var", {4}}, {"bn.weight", {2}}}};
  expect_near(run.of(y), {4 / std::sqrt(4 + 1e-5), 8 / std::sqrt(4 + 1e-5)});
  expect_near(run.of("bn.running_mean"), {1});
}

TEST(Pooling, NeverCountsOrChoosesPadding) {
  ProgramBuilder b{"case", 1};
  const TensorId x = b.input("x", {1, 1, 2, 2});
  const PoolAttributes window{.kernel = 2, .stride = 2, .padding = 1};
  const TensorId highest = max_pool(b, "max", x, window), mean = avg_pool(b, "mean", x, {.kernel = 3, .stride = 1, .padding = 1});
  const OneRun run{b.finish(), {-1, -2, -3, -5}};
  expect_near(run.of(highest), {-1, -2, -3, -5});
  expect_near(run.of(mean), {-2.75, -2.75, -2.75, -2.75});
}

TEST(Pooling, TheFirstOfEqualMaximaGetsTheGradient) {
  ProgramBuilder b{"case", 1};
  const TensorId x = b.input("x", {1, 1, 2, 2});
  const auto pooled = b.apply(OpKind::max_pool, "pool", {x}, PoolAttributes{.kernel = 2, .stride = 2});
  const TensorId dx = b.apply(OpKind::max_pool_backward, "pool", {pooled[0], pooled[1]},
                              PoolAttributes{2, 2, 0, 2, 2}, Phase::backward, 0)[0];
  expect_near(OneRun{b.finish(), {1, 4, 4, 4}}.of(dx), {0, 4, 0, 0});
}

// Two samples of three classes; labels are bound as data of their own.
struct Loss {
  double loss, correct;
};

Loss loss_of(const Floats& logits, const std::vector<int32_t>& labels, double smoothing) {
  ProgramBuilder b{"case", 2};
  const TensorId x = b.input("x", {2, 3}), y = b.input("y", {2}, DType::i32);
  const auto out = b.apply(OpKind::softmax_cross_entropy, "loss", {x, y}, LossAttributes{smoothing});
  b.set_loss(out[0], out[1]);
  ReferenceExecutor executor{{lower(b.finish(), reference_target())}};
  const Binding bindings[] = {{x, logits.data()}, {y, labels.data()}};
  executor.enqueue(0, bindings);
  const StepResult result = executor.collect().value();
  return {result.loss, result.correct};
}

TEST(SoftmaxCrossEntropy, IsTheMeanOverTheBatch) {
  const Loss even = loss_of({0, 0, 0, 7, 7, 7}, {0, 2}, 0);
  EXPECT_NEAR(even.loss, std::log(3), 1e-12);
  EXPECT_EQ(even.correct, 1);  // the first of equal logits is the guess
  const double wrong = std::log(1 + 2 * std::exp(-2.0)) + 2, right = std::log(1 + 2 * std::exp(-2.0));
  EXPECT_NEAR(loss_of({2, 0, 0, 0, 2, 0}, {0, 2}, 0).loss, (right + wrong) / 2, 1e-12);
  EXPECT_NEAR(loss_of({2, 0, 0, 0, 2, 0}, {0, 1}, 0.3).loss, 0.8 * right + 0.2 * wrong, 1e-12);
}

TEST(SoftmaxCrossEntropy, SurvivesLargeLogits) {
  EXPECT_NEAR(loss_of({1e4, 0, 0, 0, 1e4, 0}, {0, 1}, 0).loss, 0, 1e-12);
  EXPECT_NEAR(loss_of({1e4, 0, 0, 0, 1e4, 0}, {1, 1}, 0).loss, 5e3, 1e-9);
}

TEST(SoftmaxCrossEntropy, RefusesALabelThatIsNoClass) {
  for (const int32_t label : {-1, 3}) {
    try {
      loss_of({0, 0, 0, 0, 0, 0}, {0, label}, 0);
      FAIL();
    } catch (const Error& e) {
      EXPECT_EQ(e.fault(), Fault::input);
      EXPECT_NE(std::string(e.what()).find(std::to_string(label) + " of sample 1"), std::string::npos) << e.what();
    }
  }
}

TEST(Dropout, ThresholdsAreExact) {
  EXPECT_EQ(dropout_mask::threshold(0), 0u);
  EXPECT_EQ(dropout_mask::threshold(0.5), 0x80000000u);
  EXPECT_EQ(dropout_mask::threshold(0x1p-32), 1u);
  EXPECT_EQ(dropout_mask::threshold(0.75 * 0x1p-32), 1u);
  EXPECT_EQ(dropout_mask::threshold(std::nextafter(1.0, 0.0)), 0xffffffffu);
  EXPECT_TRUE(dropout_mask::keep(0x80000000u, 0x80000000u));
  EXPECT_FALSE(dropout_mask::keep(0x7fffffffu, 0x80000000u));
}

Doubles dropped(double rate, float seed, float step, uint32_t stream) {
  constexpr int64_t count = 10'001;
  ProgramBuilder b{"case", 1};
  const TensorId x = b.input("x", {1, count}), state = b.scalar("state", 0, DType::i32, {2});
  const TensorId y = b.apply(OpKind::dropout, "drop", {x, state}, DropoutAttributes{rate, stream})[0];
  return OneRun{b.finish(), Floats(count, 2), {{"state", {seed, step}}}}.of(y);
}

TEST(Dropout, DropsTheShareAndScalesTheRest) {
  const Doubles y = dropped(0.3, 1, 2, 3);
  const auto zeros = std::ranges::count(y, 0.0);
  EXPECT_NEAR(static_cast<double>(zeros) / static_cast<double>(y.size()), 0.3, 0.02);  // four standard deviations
  EXPECT_EQ(std::ranges::count(y, 2 / 0.7), static_cast<int64_t>(y.size()) - zeros);
  EXPECT_EQ(dropped(0, 1, 2, 3), Doubles(y.size(), 2));
}

TEST(Dropout, SeedStepAndStreamEachGiveAnotherMask) {
  const Doubles y = dropped(0.5, 1, 2, 3);
  EXPECT_EQ(dropped(0.5, 1, 2, 3), y);
  EXPECT_NE(dropped(0.5, 2, 2, 3), y);
  EXPECT_NE(dropped(0.5, 1, 3, 3), y);
  EXPECT_NE(dropped(0.5, 1, 2, 4), y);
}

TEST(Sgd, DecaysAndRemembersAsItsDefinitionSays) {
  for (const double momentum : {0.0, 0.5}) {
    ProgramBuilder b{"case", 1};
    const TensorId x = b.input("x", {2}), rate = b.scalar("rate", 0);
    const TensorId w = b.persistent("w", {2}, Role::parameter, {});
    std::vector<TensorId> inputs{w, x, rate};
    if (momentum > 0) inputs.push_back(b.persistent("m", {2}, Role::optimizer_state, {}));
    b.apply(OpKind::sgd, "w", inputs, SgdAttributes{momentum, 0.25}, Phase::update);
    std::vector<std::pair<std::string, Floats>> start{{"rate", {0.5}}, {"w", {4, -8}}};
    if (momentum > 0) start.push_back({"m", {2, 6}});
    const OneRun run{b.finish(), {3, 1}, start};  // decayed gradients 4 and -1
    if (momentum > 0) {
      expect_near(run.of("m"), {5, 2});
      expect_near(run.of("w"), {1.5, -9});
    } else {
      expect_near(run.of("w"), {2, -7.5});
    }
  }
}

TEST(Kernels, EveryOperationHasOne) {
  for (int kind = 0; kind <= static_cast<int>(OpKind::lamb); ++kind)
    EXPECT_EQ(static_cast<int>(reference::kernel(static_cast<OpKind>(kind)).kind), kind);
}

}  // namespace
}  // namespace gpusizer
