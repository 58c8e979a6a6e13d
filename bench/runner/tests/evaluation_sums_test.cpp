// SPDX-License-Identifier: Apache-2.0
// Means over a test set whose batches differ in size.
#include "bench/runner/evaluation_sums.hpp"

#include <gtest/gtest.h>

namespace gpusizer {
namespace {

// Two batches of 8 and 2 samples. Masked words: 10 with a mean loss of 3, then 30 with a mean loss of 1: 60 / 40 = 1.5;
// 4 and 16 of them right: 20 / 40.
TEST(EvaluationSums, WeightsEachFigureByWhatItIsCountedOver) {
  Program program{.name = "p", .batch = 8};
  program.outputs = {{"word_loss", TensorId{0}, TensorId{1}, false}, {"word_accuracy", TensorId{2}, TensorId{1}, true}};
  EvaluationSums sums;
  sums.add(program, {.loss = 2, .outputs = {3, 4}, .counts = {10, 10}});
  program.batch = 2;
  sums.add(program, {.loss = 7, .outputs = {1, 16}, .counts = {30, 30}});
  const Evaluation means = sums.means();
  EXPECT_EQ(means.samples, 10);
  EXPECT_DOUBLE_EQ(means.loss, 3);
  EXPECT_FALSE(means.accuracy);
  EXPECT_DOUBLE_EQ(*means.outputs.at("word_loss"), 1.5);
  EXPECT_DOUBLE_EQ(*means.outputs.at("word_accuracy"), 0.5);
}

TEST(EvaluationSums, ABatchWithNothingToCountChangesNothing) {
  Program program{.name = "p", .batch = 4};
  program.correct = TensorId{0};
  program.outputs = {{"word_loss", TensorId{0}, TensorId{1}, false}};
  EvaluationSums sums;
  sums.add(program, {.correct = 3, .outputs = {0}, .counts = {0}});
  EXPECT_TRUE(sums.means().outputs.empty());
  EXPECT_DOUBLE_EQ(*sums.means().accuracy, 0.75);
}

}  // namespace
}  // namespace gpusizer
