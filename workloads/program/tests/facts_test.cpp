// SPDX-License-Identifier: Apache-2.0
// FLOPs by operation and phase, parameters and gradient bytes, against counts made by hand.
#include "workloads/program/facts.hpp"

#include <gtest/gtest.h>

#include "workloads/program/layers.hpp"
#include "workloads/program/optimizer.hpp"

namespace gpusizer {
namespace {

// conv 3 -> 8, 3x3, padding 1, on 4x4; grouped conv 8 -> 8, 3x3, 4 groups, stride 2; linear 32 -> 5. Batch 2.
Program forward() {
  ProgramBuilder b{"net", 2};
  const TensorId x = b.input("x", {2, 3, 4, 4}), labels = b.input("labels", {2}, DType::i32);
  TensorId y = conv2d(b, "c1", x, {.channels = 8, .kernel = 3, .padding = 1});
  y = relu(b, "r1", batch_norm(b, "n1", y, true));
  y = conv2d(b, "c2", y, {.channels = 8, .kernel = 3, .stride = 2, .padding = 1, .groups = 4, .bias = true});
  classification_loss(b, linear(b, "fc", flatten(b, "f", y), 5), labels);
  return b.finish();
}

constexpr int64_t c1 = 8 * 4 * 4 * 3 * 3 * 3;  // results of one sample x multiply-accumulates of each
constexpr int64_t c2 = 8 * 2 * 2 * 2 * 3 * 3;
constexpr int64_t fc = 32 * 5;

TEST(Facts, OfAForwardProgram) {
  const Facts f = facts(forward());
  EXPECT_EQ(f.batch, 2);
  EXPECT_EQ(f.parameters, 8 * 27 + 2 * 8 + (8 * 18 + 8) + (160 + 5));
  EXPECT_EQ(f.state_values, 16);
  EXPECT_EQ(f.gradient_bytes, 0);
  EXPECT_EQ(f.forward_macs_per_sample, c1 + c2 + fc);
  EXPECT_EQ(f.flops_per_sample, 2 * (c1 + c2 + fc));
}

TEST(Facts, OfATrainingStepByPhase) {
  const Facts f = facts(training_program(forward(), {}));
  EXPECT_EQ(f.gradient_bytes, 4 * f.parameters);
  EXPECT_EQ(f.forward_macs_per_sample, c1 + c2 + fc);
  const auto phase = [&](Phase p) { return f.flops_by_phase[static_cast<size_t>(p)]; };
  EXPECT_EQ(phase(Phase::forward), 2 * 2 * (c1 + c2 + fc));
  EXPECT_EQ(phase(Phase::backward), 2 * 2 * (c1 + 2 * c2 + 2 * fc)) << "no gradient for the first layer's input";
  EXPECT_EQ(phase(Phase::communicate), 0);
  EXPECT_EQ(phase(Phase::update), 0);
  EXPECT_EQ(f.flops_per_sample, 2 * (2 * c1 + 3 * c2 + 3 * fc));
  EXPECT_EQ(f.operations.size(), 3u + 5u);
  int64_t sum = 0;
  for (const OperationFacts& op : f.operations) sum += 2 * op.macs;
  EXPECT_EQ(sum, f.flops_per_sample * f.batch);
}

}  // namespace
}  // namespace gpusizer
