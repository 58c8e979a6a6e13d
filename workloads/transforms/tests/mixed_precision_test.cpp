// SPDX-License-Identifier: Apache-2.0
// Programs in other precisions, word for word; what a step does whose gradients overflow.
#include "workloads/transforms/mixed_precision.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "gpusizer/error.hpp"
#include "workloads/program/dump.hpp"
#include "workloads/program/layers.hpp"
#include "workloads/program/optimizer.hpp"
#include "workloads/transforms/tests/small_step.hpp"

namespace gpusizer {
namespace {

Program training(const Program& forward, Precision precision, OptimizerOptions options) {
  const Differentiated step = mixed_precision(differentiate(forward), precision);
  return add_optimizer(step.program, step.gradients, options);
}

// The lines of the program's operations.
std::string operations_of(const Program& program) {
  const std::string text = dump(program);
  return text.substr(text.find("forward"));
}

constexpr const char* half = R"(forward  %21 f16 [2, 6] = cast(%0) to=f16  # x:f16
forward  %22 f16 [5, 6] = cast(%2) to=f16  # first.weight:f16
forward  %23 f16 [5] = cast(%3) to=f16  # first.bias:f16
forward  %4 f16 [2, 5] = linear(%21, %22, %23)  # first
forward  %5 f16 [2, 5], %6 [] = relu(%4)  # relu
forward  %24 f16 [3, 5] = cast(%7) to=f16  # last.weight:f16
forward  %25 f16 [3] = cast(%8) to=f16  # last.bias:f16
forward  %9 f16 [2, 3] = linear(%5, %24, %25)  # last
forward  %10 [], %11 [], %12 [] = softmax_cross_entropy(%9, %1) label_smoothing=0  # loss
backward %14 f16 [2, 3] = softmax_cross_entropy_backward(%13, %1, %12, %9) label_smoothing=0  # loss
backward %15 f16 [3, 5], %16 f16 [3] = linear_backward_weights(%5, %14, %24, %25)  # last
backward %17 f16 [2, 5] = linear_backward_data(%14, %24)  # last
backward %18 f16 [2, 5] = relu_backward(%17, %6)  # relu
backward %19 f16 [5, 6], %20 f16 [5] = linear_backward_weights(%21, %18, %22, %23)  # first
loss %10
)";

TEST(MixedPrecision, CastsEachParameterOnceAndKeepsTheLossInFullWidth) {
  const Differentiated step = mixed_precision(differentiate(small_net(2)), Precision::fp16);
  EXPECT_EQ(operations_of(step.program), half);
  for (const auto& [parameter, gradient] : step.gradients) {
    EXPECT_EQ(step.program.tensor(parameter).dtype, DType::f32);
    EXPECT_EQ(step.program.tensor(gradient).dtype, DType::f16);
  }
}

TEST(MixedPrecision, ThePairsOfForwardAndBackwardStayPairs) {
  const Program p = mixed_precision(differentiate(rich_net(2)), Precision::bf16).program;
  for (const Operation& op : p.operations)
    if (op.forward_op >= 0) { EXPECT_EQ(p.operations[static_cast<size_t>(op.forward_op)].layer, op.layer); }
}

TEST(MixedPrecision, NormsKeepTheirParametersGradientsInFullWidth) {
  const Program p = mixed_precision(differentiate(rich_net(2)), Precision::bf16).program;
  const auto norm = std::ranges::find(p.operations, OpKind::layer_norm_backward, &Operation::kind);
  EXPECT_EQ(p.tensor(norm->outputs[0]).dtype, DType::bf16);
  EXPECT_EQ(p.tensor(norm->outputs[1]).dtype, DType::f32);
  EXPECT_EQ(p.tensor(norm->inputs[2]).name, "norm.weight");
  EXPECT_EQ(p.find("loss_scale"), nullptr) << "bf16 has the range of f32";
}

TEST(MixedPrecision, Tf32RoundsOperandsOfProductsOnly) {
  const Program p = mixed_precision(differentiate(small_net(2)), Precision::tf32).program;
  for (const Tensor& t : p.tensors)
    if (t.dtype == DType::tf32) { EXPECT_TRUE(t.name.ends_with(":tf32")) << t.name; }
  EXPECT_TRUE(p.find("first.weight:tf32") && p.find("x:tf32") && !p.find("first.bias:tf32"));
  EXPECT_EQ(p.find("first")->dtype, DType::f32);
}

TEST(MixedPrecision, FullPrecisionChangesNothing) {
  const Differentiated step = differentiate(rich_net(2));
  EXPECT_EQ(dump(mixed_precision(step, Precision::fp32).program), dump(step.program));
}

TEST(MixedPrecision, EvaluationHasNoLossScale) {
  const Program p = mixed_precision(small_net(2), Precision::fp16);
  EXPECT_EQ(p.find("loss_scale"), nullptr);
  EXPECT_EQ(p.find("last")->dtype, DType::f16);
}

TEST(MixedPrecision, ATableThatIsReadTwiceSumsItsGradientsInFullWidth) {
  ProgramBuilder b("tied", 2);
  const TensorId x = b.input("x", {2, 4}), labels = b.input("labels", {2}, DType::i32);
  const TensorId w = b.persistent("w", {4, 4}, Role::parameter, {Initializer::Kind::normal, 0.1});
  const TensorId h = b.apply(OpKind::linear, "one", {x, w})[0];
  classification_loss(b, b.apply(OpKind::linear, "two", {h, w})[0], labels);
  const Differentiated step = mixed_precision(differentiate(b.finish()), Precision::fp16);
  EXPECT_EQ(step.program.tensor(step.gradients.at(0).second).dtype, DType::f32);
  EXPECT_EQ(step.program.find("one:grad_weight")->dtype, DType::f16);
}

TEST(MixedPrecision, RefusesUpdatesAndUnknownWords) {
  const Differentiated step = differentiate(small_net(2));
  const Program updated = add_optimizer(step.program, step.gradients, {});
  EXPECT_THROW(mixed_precision({updated, step.gradients}, Precision::bf16), Error);
  EXPECT_THROW(precision("half"), Error);
  EXPECT_EQ(precision("bf16"), Precision::bf16);
  EXPECT_EQ(to_string(Precision::fp16), "fp16");
  EXPECT_EQ(element_type(Precision::tf32), DType::tf32);
}

class Backends : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(MixedPrecision, Backends, testing::Values("reference", "cpu"));

TEST_P(Backends, AnOverflowSkipsTheStepAndHalvesTheScale) {
  using enum OptimizerKind;
  for (const OptimizerKind kind : {sgd, adamw, lamb, adagrad}) {
    SmallRun run(GetParam(), training(small_net(4), Precision::fp16, {.kind = kind}));
    EXPECT_EQ(run.read("loss_scale"), std::vector<float>{65536});
    EXPECT_GT(run.step(0, 0.1f).outputs[0], 0) << "this step is good";
    EXPECT_EQ(run.read("loss_scale:good_steps"), std::vector<float>{1});
    run.write("loss_scale", {0x1p30f});  // times a gradient of 0.1: far beyond 65504
    const auto first = run.read("first.weight"), last = run.read("last.bias");
    const StepResult skipped = run.step(1, 0.1f);
    EXPECT_EQ(skipped.outputs[0], 0);
    EXPECT_FALSE(std::isfinite(skipped.outputs[1]));
    EXPECT_TRUE(skipped.finite) << "the loss itself is not scaled";
    EXPECT_EQ(run.read("first.weight"), first);
    EXPECT_EQ(run.read("last.bias"), last);
    EXPECT_EQ(run.read("loss_scale"), std::vector<float>{0x1p29f});
    EXPECT_EQ(run.read("loss_scale:good_steps"), std::vector<float>{0});
    if (kind == adamw) { EXPECT_EQ(run.read("optimizer:steps"), std::vector<float>{1}); }
  }
}

TEST_P(Backends, ShortTypesLearnNearlyAsFullOnesDo) {
  for (const Precision precision : {Precision::tf32, Precision::fp16, Precision::bf16}) {
    SmallRun full("reference", training(rich_net(8), Precision::fp32, {}));
    SmallRun narrow(GetParam(), training(rich_net(8), precision, {}));
    if (precision == Precision::fp16) narrow.write("loss_scale", {1024});  // so that no step is skipped
    double difference = 0;
    for (int step = 0; step < 10; ++step) {
      const double wanted = full.step(step, 0.1f).loss, got = narrow.step(step, 0.1f).loss;
      EXPECT_NEAR(got, wanted, 0.03 * wanted) << to_string(precision) << " step " << step;
      difference += std::abs(got - wanted);
    }
    EXPECT_GT(difference, 0) << "the rounding must be seen";
  }
}

}  // namespace
}  // namespace gpusizer
