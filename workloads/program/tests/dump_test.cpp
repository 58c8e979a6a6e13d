// SPDX-License-Identifier: Apache-2.0
// The text of a small training step, word for word.
#include "workloads/program/dump.hpp"

#include <gtest/gtest.h>

#include "workloads/program/layers.hpp"
#include "workloads/program/optimizer.hpp"

namespace gpusizer {
namespace {

constexpr const char* golden = R"(program small batch=2
tensor %0 x f32 [2, 3, 4, 4] input
tensor %1 labels i32 [2] input
tensor %2 c1.weight f32 [4, 3, 3, 3] parameter
tensor %3 c1.bias f32 [4] parameter
tensor %9 n1.weight f32 [4] parameter
tensor %10 n1.bias f32 [4] parameter
tensor %11 n1.running_mean f32 [4] state
tensor %12 n1.running_var f32 [4] state
tensor %17 random_state i32 [2] scalar
tensor %20 fc.weight f32 [5, 4] parameter
tensor %21 fc.bias f32 [5] parameter
tensor %26 loss:grad f32 [] scalar
tensor %41 learning_rate f32 [] scalar
tensor %42 fc.weight:momentum f32 [5, 4] optimizer_state
tensor %43 fc.bias:momentum f32 [5] optimizer_state
tensor %44 n1.weight:momentum f32 [4] optimizer_state
tensor %45 n1.bias:momentum f32 [4] optimizer_state
tensor %46 c1.weight:momentum f32 [4, 3, 3, 3] optimizer_state
tensor %47 c1.bias:momentum f32 [4] optimizer_state
forward  %4 [2, 4, 4, 4] = conv2d(%0, %2, %3) stride=1 padding=1 groups=1  # c1
forward  %5 [2, 4, 4, 4], %6 [] = relu(%4)  # r1
forward  %7 [2, 4, 2, 2], %8 [] = max_pool(%5) kernel=2 stride=2 padding=0  # p1
forward  %13 [2, 4, 2, 2], %14 [], %11 [4], %12 [4] = batch_norm(%7, %9, %10, %11, %12) epsilon=1e-05 momentum=0.1  # n1
forward  %15 [2, 4, 1, 1] = avg_pool(%13) kernel=2 stride=2 padding=0  # p2
forward  %16 [2, 4] = flatten(%15)  # f
forward  %18 [2, 4], %19 [] = dropout(%16, %17) rate=0.25 stream=0  # d1
forward  %22 [2, 5] = linear(%18, %20, %21)  # fc
forward  %23 [], %24 [], %25 [] = softmax_cross_entropy(%22, %1) label_smoothing=0  # loss
backward %27 [2, 5] = softmax_cross_entropy_backward(%26, %1, %25, %22) label_smoothing=0  # loss
backward %28 [5, 4], %29 [5] = linear_backward_weights(%18, %27, %20, %21)  # fc
backward %30 [2, 4] = linear_backward_data(%27, %20)  # fc
backward %31 [2, 4] = dropout_backward(%30, %19) rate=0.25 stream=0  # d1
backward %32 [2, 4, 1, 1] = flatten_backward(%31)  # f
backward %33 [2, 4, 2, 2] = avg_pool_backward(%32) kernel=2 stride=2 padding=0  # p2
backward %34 [2, 4, 2, 2], %35 [4], %36 [4] = batch_norm_backward(%33, %7, %9, %14) epsilon=1e-05 momentum=0.1  # n1
backward %37 [2, 4, 4, 4] = max_pool_backward(%34, %8) kernel=2 stride=2 padding=0  # p1
backward %38 [2, 4, 4, 4] = relu_backward(%37, %6)  # r1
backward %39 [4, 3, 3, 3], %40 [4] = conv2d_backward_weights(%0, %38, %2, %3) stride=1 padding=1 groups=1  # c1
update   %20 [5, 4], %42 [5, 4] = sgd(%20, %28, %41, %42) momentum=0.9 weight_decay=0.0001  # fc.weight
update   %21 [5], %43 [5] = sgd(%21, %29, %41, %43) momentum=0.9 weight_decay=0.0001  # fc.bias
update   %9 [4], %44 [4] = sgd(%9, %35, %41, %44) momentum=0.9 weight_decay=0.0001  # n1.weight
update   %10 [4], %45 [4] = sgd(%10, %36, %41, %45) momentum=0.9 weight_decay=0.0001  # n1.bias
update   %2 [4, 3, 3, 3], %46 [4, 3, 3, 3] = sgd(%2, %39, %41, %46) momentum=0.9 weight_decay=0.0001  # c1.weight
update   %3 [4], %47 [4] = sgd(%3, %40, %41, %47) momentum=0.9 weight_decay=0.0001  # c1.bias
loss %23
)";

TEST(Dump, ASmallTrainingStepIsWhatItWas) {
  ProgramBuilder b{"small", 2};
  const TensorId x = b.input("x", {2, 3, 4, 4}), labels = b.input("labels", {2}, DType::i32);
  TensorId y = relu(b, "r1", conv2d(b, "c1", x, {.channels = 4, .kernel = 3, .padding = 1, .bias = true}));
  y = batch_norm(b, "n1", max_pool(b, "p1", y, {.kernel = 2, .stride = 2}), true);
  y = dropout(b, "d1", flatten(b, "f", global_avg_pool(b, "p2", y)), 0.25);
  classification_loss(b, linear(b, "fc", y, 5), labels);
  EXPECT_EQ(dump(training_program(b.finish(), {})), golden);
}

TEST(Dump, AProgramWithoutALossSaysNone) {
  ProgramBuilder b{"bare", 1};
  relu(b, "r", b.input("x", {4}));
  EXPECT_EQ(dump(b.finish()), "program bare batch=1\ntensor %0 x f32 [4] input\nforward  %1 [4], %2 [] = relu(%0)  # r\n");
}

}  // namespace
}  // namespace gpusizer
