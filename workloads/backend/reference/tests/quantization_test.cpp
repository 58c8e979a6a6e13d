// SPDX-License-Identifier: Apache-2.0
// Worked examples of eight-bit integers.
#include <gtest/gtest.h>

#include "gpusizer/error.hpp"
#include "workloads/backend/reference/tests/one_run.hpp"
#include "workloads/program/builder.hpp"

namespace gpusizer {
namespace {

using Activation = Int8Attributes::Activation;

TEST(Quantize, RoundsToNearestEvenAndStopsAtTheEnds) {
  ProgramBuilder b{"case", 1};
  const TensorId x = b.input("x", {1, 6});
  const TensorId i = b.apply(OpKind::quantize, "i", {x}, QuantizeAttributes{DType::i8, 0.5})[0];
  const TensorId u = b.apply(OpKind::quantize, "u", {x}, QuantizeAttributes{DType::u8, 0.5})[0];
  const TensorId back = b.apply(OpKind::dequantize, "back", {i}, QuantizeAttributes{DType::f32, 0.5})[0];
  const OneRun run{b.finish(), {0.25f, 0.75f, -1.3f, 100, -100, 200}};
  EXPECT_EQ(run.of(i), (Doubles{0, 2, -3, 127, -128, 127}));
  EXPECT_EQ(run.of(u), (Doubles{0, 2, 0, 200, 0, 255}));
  EXPECT_EQ(run.of(back), (Doubles{0, 1, -1.5, 63.5, -64, 63.5}));
}

TEST(RecordRange, KeepsTheLargestMagnitude) {
  ProgramBuilder b{"case", 1};
  const TensorId x = b.input("x", {1, 3}), range = b.persistent("range", {1}, Role::state, {});
  b.apply(OpKind::record_range, "seen", {x, range});
  const Program p = b.finish();
  EXPECT_EQ(OneRun(p, {1, -3, 2}).of("range"), Doubles{3});
  EXPECT_EQ(OneRun(p, {1, -3, 2}, {{"range", {5}}}).of("range"), Doubles{5});
}

struct Layer {
  ProgramBuilder b{"case", 1};
  TensorId x = b.apply(OpKind::quantize, "q", {b.input("x", {1, 2})}, QuantizeAttributes{DType::i8, 0.5})[0];
  TensorId w = b.persistent("w", {2, 2}, Role::state, {}, DType::i8);
  TensorId bias = b.persistent("bias", {2}, Role::state, {});
  Int8Attributes a{.x_scale = 0.5, .weight_scales = {0.1, 0.2}};

  Doubles run(const std::vector<TensorId>& inputs) {
    const TensorId y = b.apply(OpKind::linear_int8, "y", inputs, a)[0];
    return OneRun{b.finish(), {2, -3}, {{"w", {10, 20, 30, -40}}, {"bias", {4, -5}}}}.of(y);
  }
};

// x is 4, -6: the sums are 40 - 120 + 4 = -76 and 120 + 240 - 5 = 355, which stand for -3.8 and 35.5.
TEST(LinearInt8, SumsIntegersAndScalesByChannel) {
  Layer l;
  expect_near(l.run({l.x, l.w, l.bias}), {-3.8, 35.5});
}

TEST(LinearInt8, MakesIntegersOfTheActivationsResult) {
  Layer l;
  l.a.activation = Activation::relu;
  l.a.to = {DType::u8, 0.25};
  EXPECT_EQ(l.run({l.x, l.w, l.bias}), (Doubles{0, 142}));
}

TEST(LinearInt8, AddsTheResidualBeforeTheActivation) {
  Layer l;
  l.a.residual = true;
  const TensorId residual = l.b.scalar("r", 4, DType::f32, {1, 2});
  expect_near(l.run({l.x, l.w, l.bias, residual}), {0.2, 39.5});
}

// A 1x1 convolution of one pixel: 2 * 30 + 1 = 61 stands for 6.1; with 0.5 * 8 it is 10.1, of 0.3 each 33.67.
TEST(Conv2dInt8, AddsAnIntegerResidualWithItsOwnScale) {
  ProgramBuilder b{"case", 1};
  const TensorId x = b.input("x", {1, 1, 1, 1});
  const TensorId q = b.apply(OpKind::quantize, "q", {x}, QuantizeAttributes{DType::u8, 1})[0];
  const TensorId r = b.apply(OpKind::quantize, "r", {x}, QuantizeAttributes{DType::u8, 0.25})[0];
  const TensorId w = b.persistent("w", {1, 1, 1, 1}, Role::state, {}, DType::i8);
  const TensorId bias = b.persistent("bias", {1}, Role::state, {});
  const Int8Attributes a{.activation = Activation::relu,
                         .x_scale = 1,
                         .weight_scales = {0.1},
                         .to = {DType::u8, 0.3},
                         .residual = true,
                         .residual_scale = 0.5};
  const TensorId y = b.apply(OpKind::conv2d_int8, "y", {q, w, bias, r}, a)[0];
  EXPECT_EQ((OneRun{b.finish(), {2}, {{"w", {30}}, {"bias", {1}}}}.of(y)), Doubles{34});
}

TEST(LinearInt8, RefusesWhatDoesNotFit) {
  Layer l;
  EXPECT_THROW(l.b.apply(OpKind::linear_int8, "few", {l.x, l.w}, l.a), Error);
  EXPECT_THROW(l.b.apply(OpKind::linear_int8, "real", {l.bias, l.w, l.bias}, l.a), Error);
  l.a.weight_scales = {0.1};
  EXPECT_THROW(l.b.apply(OpKind::linear_int8, "scales", {l.x, l.w, l.bias}, l.a), Error);
  l.a.weight_scales = {0.1, 0};
  EXPECT_THROW(l.b.apply(OpKind::linear_int8, "zero", {l.x, l.w, l.bias}, l.a), Error);
}

}  // namespace
}  // namespace gpusizer
