// SPDX-License-Identifier: Apache-2.0
// Worked examples of the optimizers, clipping, skipping and the loss scale. Numbers are chosen so that a person can follow.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "workloads/backend/reference/tests/one_run.hpp"
#include "workloads/program/builder.hpp"

namespace gpusizer {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN(), infinite = std::numeric_limits<float>::infinity();

using Named = std::vector<std::pair<std::string, Floats>>;

// One update of "w" by the gradient: `states` in the order of the operation's inputs, of w's length; then scalars.
OneRun update(OpKind kind, const Attributes& attributes, const Floats& w, const Floats& gradient, float rate,
              const Named& states, const Named& scalars = {}) {
  ProgramBuilder b{"case", 1};
  const Shape shape{static_cast<int64_t>(w.size())};
  std::vector<TensorId> inputs{b.persistent("w", shape, Role::parameter, {}), b.input("x", shape), b.scalar("rate", 0)};
  Named start{{"w", w}, {"rate", {rate}}};
  for (const auto& state : states) {
    inputs.push_back(b.persistent(state.first, shape, Role::optimizer_state, {}));
    start.push_back(state);
  }
  for (const auto& scalar : scalars) {
    inputs.push_back(b.scalar(scalar.first, 0));
    start.push_back(scalar);
  }
  b.apply(kind, "w", inputs, attributes, Phase::update);
  return {b.finish(), gradient, start};
}

AdamAttributes adam(double weight_decay, bool decoupled) {
  return {.beta1 = 0.5, .beta2 = 0.75, .epsilon = 0.1, .decoupled = decoupled, .update = {weight_decay}};
}

// Of the second step: the corrections are 1 - 0.5^2 and 1 - 0.75^2. The decayed gradient is 3 + 0.25 * 4.
TEST(Adam, CorrectsBothMomentsAndDecaysInTheGradient) {
  const OneRun run = update(OpKind::adam, adam(0.25, false), {4}, {3}, 0.5f, {{"m", {2}}, {"v", {8}}}, {{"steps", {2}}});
  expect_near(run.of("m"), {3});
  expect_near(run.of("v"), {10});
  expect_near(run.of("w"), {4 - 0.5 * (3 / 0.75) / (std::sqrt(10 / 0.4375) + 0.1)});
}

TEST(Adam, DecoupledDecayShrinksTheWeightAndNotTheMoments) {
  const OneRun run = update(OpKind::adam, adam(0.25, true), {4}, {3}, 0.5f, {{"m", {2}}, {"v", {8}}}, {{"steps", {2}}});
  expect_near(run.of("m"), {2.5});
  expect_near(run.of("v"), {8.25});
  expect_near(run.of("w"), {4 - 0.5 * 0.25 * 4 - 0.5 * (2.5 / 0.75) / (std::sqrt(8.25 / 0.4375) + 0.1)});
}

TEST(Adam, TheFirstStepIsTheLearningRateWhateverTheGradient) {
  const AdamAttributes plain{.epsilon = 0};
  const OneRun run = update(OpKind::adam, plain, {1, 1}, {1e-3f, -1e3f}, 0.25f, {{"m", {0, 0}}, {"v", {0, 0}}}, {{"steps", {1}}});
  expect_near(run.of("w"), {0.75, 1.25});
}

TEST(Adagrad, DividesByTheRootOfAllSquaresSoFar) {
  const AdagradAttributes a{.epsilon = 1, .update = {.weight_decay = 0.25}};
  const OneRun run = update(OpKind::adagrad, a, {4}, {3}, 0.5f, {{"sum", {9}}});
  expect_near(run.of("sum"), {25});
  expect_near(run.of("w"), {4 - 0.5 * 4 / (5 + 1.0)});
}

// The first step's Adam update is the gradient's sign: (1, -1); with decay (2.5, 1). The weights' norm is 5.
TEST(Lamb, ScalesTheUpdateToTheWeightsNorm) {
  const AdamAttributes a{.epsilon = 0, .update = {.weight_decay = 0.5}};
  const OneRun run = update(OpKind::lamb, a, {3, 4}, {2, -8}, 0.1f, {{"m", {0, 0}}, {"v", {0, 0}}}, {{"steps", {1}}});
  const double rate = double{0.1f} * 5 / std::sqrt(2.5 * 2.5 + 1);
  expect_near(run.of("w"), {3 - rate * 2.5, 4 - rate * 1});
}

TEST(Lamb, TakesTheUpdateAsItIsWhereANormIsZero) {
  const AdamAttributes a{.epsilon = 0};
  const OneRun run = update(OpKind::lamb, a, {0, 0}, {2, -8}, 0.5f, {{"m", {0, 0}}, {"v", {0, 0}}}, {{"steps", {1}}});
  expect_near(run.of("w"), {-0.5, 0.5});
  const AdamAttributes careful{.epsilon = 1};
  const OneRun still = update(OpKind::lamb, careful, {3, 4}, {0, 0}, 0.5f, {{"m", {0, 0}}, {"v", {0, 0}}}, {{"steps", {1}}});
  expect_near(still.of("w"), {3, 4});
}

TEST(Sgd, L1PullsTowardsZeroAndTheFactorScalesTheGradientOnly) {
  const SgdAttributes a{.momentum = 0, .weight_decay = 0.25, .l1 = 2, .scaled = true};
  const OneRun run = update(OpKind::sgd, a, {4, -4, 0}, {8, 8, 8}, 0.5f, {}, {{"factor", {0.5}}});
  expect_near(run.of("w"), {4 - 0.5 * (4 + 1 + 2), -4 - 0.5 * (4 - 1 - 2), -0.5 * 4});
}

TEST(Adam, L1IsPartOfTheGradientEvenWhereDecayIsNot) {
  AdamAttributes a = adam(0, true);
  a.update.l1 = 2;
  expect_near(update(OpKind::adam, a, {-4}, {3}, 0.5f, {{"m", {2}}, {"v", {8}}}, {{"steps", {2}}}).of("m"), {1.5});
}

TEST(Updates, AFactorOfZeroLeavesEverythingAsItIs) {
  const UpdateAttributes decayed{.weight_decay = 0.5, .l1 = 1, .scaled = true};
  const Named factor{{"factor", {0}}}, counted{{"steps", {0}}, {"factor", {0}}};
  const Floats w{3, -4}, bad{nan, infinite};
  const Named one{{"s", {1, 2}}}, two{{"m", {1, 2}}, {"v", {3, 4}}};
  const auto expect_unchanged = [&](const OneRun& run, const Named& states) {
    expect_near(run.of("w"), {3, -4});
    for (const auto& [name, values] : states) expect_near(run.of(name), Doubles(values.begin(), values.end()));
  };
  expect_unchanged(update(OpKind::sgd, SgdAttributes{0.9, 0.5, 1, true}, w, bad, 1, one, factor), one);
  expect_unchanged(update(OpKind::adagrad, AdagradAttributes{.update = decayed}, w, bad, 1, one, factor), one);
  for (const OpKind kind : {OpKind::adam, OpKind::lamb})
    expect_unchanged(update(kind, AdamAttributes{.decoupled = true, .update = decayed}, w, bad, 1, two, counted), two);
}

struct Norm {
  double factor, norm;
};

// The norm of two gradients, (x0, x1) and (x2).
Norm norm_of(const Floats& x, double clip, float scale = 0) {
  ProgramBuilder b{"case", 1};
  const TensorId all = b.input("x", {3, 1});
  std::vector<TensorId> inputs{b.apply(OpKind::gather_rows, "two", {all}, GatherAttributes{.rows = 2})[0],
                               b.apply(OpKind::gather_rows, "one", {all}, GatherAttributes{.rows = 1, .offset = 2})[0]};
  if (scale > 0) inputs.push_back(b.scalar("scale", 0));
  const auto out = b.apply(OpKind::gradient_norm, "norm", inputs, GradientNormAttributes{clip, scale > 0}, Phase::update);
  const OneRun run{b.finish(), x, scale > 0 ? Named{{"scale", {scale}}} : Named{}};
  return {run.of(out[0])[0], run.of(out[1])[0]};
}

TEST(GradientNorm, IsOfAllGradientsTogetherWithoutTheLossScale) {
  EXPECT_DOUBLE_EQ(norm_of({2, 3, 6}, 0).norm, 7);
  EXPECT_DOUBLE_EQ(norm_of({2, 3, 6}, 0).factor, 1);
  EXPECT_DOUBLE_EQ(norm_of({2, 3, 6}, 0, 4).norm, 1.75);
  EXPECT_DOUBLE_EQ(norm_of({2, 3, 6}, 0, 4).factor, 0.25);
}

TEST(GradientNorm, ClipsOnlyWhatIsLonger) {
  EXPECT_DOUBLE_EQ(norm_of({2, 3, 6}, 3.5).factor, 0.5);
  EXPECT_DOUBLE_EQ(norm_of({2, 3, 6}, 7).factor, 1);
  EXPECT_DOUBLE_EQ(norm_of({2, 3, 6}, 1.4, 4).factor, 0.8 / 4);
  EXPECT_DOUBLE_EQ(norm_of({0, 0, 0}, 1).factor, 1);
}

TEST(GradientNorm, OneValueThatIsNotFiniteSkipsTheStep) {
  for (const float bad : {nan, infinite, -infinite})
    for (const double clip : {0.0, 1.0}) {
      EXPECT_EQ(norm_of({1, 2, bad}, clip, 8).factor, 0);
      EXPECT_FALSE(std::isfinite(norm_of({1, 2, bad}, clip, 8).norm));
    }
}

TEST(CountStep, CountsOnlyStepsThatWereTaken) {
  for (const auto& [factor, wanted] : {std::pair{0.0f, 7.0}, {0.5f, 8.0}}) {
    ProgramBuilder b{"case", 1};
    const TensorId steps = b.persistent("steps", {}, Role::optimizer_state, {});
    b.apply(OpKind::count_step, "count", {steps, b.scalar("factor", 0)}, {}, Phase::update);
    expect_near(OneRun{b.finish(), {}, {{"steps", {7}}, {"factor", {factor}}}}.of("steps"), {wanted});
  }
}

// Scale and good steps in a row after one update.
Doubles scale_after(float scale, float good, float factor) {
  ProgramBuilder b{"case", 1};
  const TensorId value = b.persistent("scale", {}, Role::optimizer_state, {});
  const TensorId count = b.persistent("good", {}, Role::optimizer_state, {});
  b.apply(OpKind::loss_scale_update, "update", {value, count, b.scalar("factor", 0)},
          LossScaleAttributes{.growth = 4, .backoff = 0.25, .largest = 100, .interval = 3}, Phase::update);
  const OneRun run{b.finish(), {}, {{"scale", {scale}}, {"good", {good}}, {"factor", {factor}}}};
  return {run.of("scale")[0], run.of("good")[0]};
}

TEST(LossScale, GrowsAfterGoodStepsAndShrinksAfterABadOne) {
  EXPECT_EQ(scale_after(16, 0, 0.5f), (Doubles{16, 1}));
  EXPECT_EQ(scale_after(16, 2, 0.5f), (Doubles{64, 0}));
  EXPECT_EQ(scale_after(64, 2, 0.5f), (Doubles{100, 0}));
  EXPECT_EQ(scale_after(16, 2, 0), (Doubles{4, 0}));
  EXPECT_EQ(scale_after(2, 1, 0), (Doubles{1, 0}));
}

}  // namespace
}  // namespace gpusizer
