// SPDX-License-Identifier: Apache-2.0
// Folded batch norms on a worked example.
#include "workloads/transforms/fold_batch_norm.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "gpusizer/error.hpp"
#include "workloads/program/layers.hpp"

namespace gpusizer {
namespace {

Program net(bool training, bool read_twice = false) {
  ProgramBuilder b{"net", 2};
  const TensorId y = conv2d(b, "conv", b.input("x", {2, 1, 2, 2}), {.channels = 2, .bias = true});
  const TensorId z = batch_norm(b, "bn", y, training);
  if (read_twice) add(b, "sum", y, z);
  return b.finish();
}

TensorValues values() {
  return {{"conv.weight", {2, 3}}, {"conv.bias", {1, -1}},           {"bn.weight", {4, 5}},
          {"bn.bias", {7, 8}},     {"bn.running_mean", {0.5, 0.25}}, {"bn.running_var", {3.99999f, 24.99999f}}};
}

// f = 4 / sqrt(4) = 2 and 5 / 5 = 1: weights 4 and 3, biases 7 + 2 * 0.5 and 8 - 1.25.
TEST(FoldBatchNorm, MultipliesIntoTheWeightAndShiftsTheBias) {
  TensorValues v = values();
  const Program folded = fold_batch_norm(net(false), v);
  ASSERT_EQ(folded.operations.size(), 1u);
  EXPECT_EQ(folded.operations[0].kind, OpKind::conv2d);
  EXPECT_EQ(folded.tensor(folded.operations[0].inputs[1]).name, "conv.weight:folded");
  EXPECT_EQ(folded.tensor(folded.operations[0].outputs[0]).name, "bn");
  const auto weight = v.at("conv.weight:folded"), bias = v.at("conv.bias:folded");
  EXPECT_NEAR(weight[0], 4, 1e-5);
  EXPECT_NEAR(weight[1], 3, 1e-5);
  EXPECT_NEAR(bias[0], 8, 1e-5);
  EXPECT_NEAR(bias[1], 6.75, 1e-5);
  EXPECT_EQ(v.at("conv.weight"), (std::vector<float>{2, 3}));
}

TEST(FoldBatchNorm, LeavesTrainingAndSharedResultsAlone) {
  TensorValues v = values();
  EXPECT_EQ(fold_batch_norm(net(true), v).operations.size(), 2u);
  EXPECT_EQ(fold_batch_norm(net(false, true), v).operations.size(), 3u);
}

TEST(FoldBatchNorm, NamesTheValuesThatAreMissing) {
  TensorValues v = values();
  v.erase("bn.running_var");
  try {
    fold_batch_norm(net(false), v);
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("bn.running_var"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace gpusizer
