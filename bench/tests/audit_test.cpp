// SPDX-License-Identifier: Apache-2.0
// Throughput counts what was executed, on examples that naive averages get wrong.
#include "bench/audit.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

namespace gpusizer {
namespace {

TEST(Audit, OneSlowStepCountsWithItsWholeTime) {
  std::vector<ExecutedStep> steps(9, {.samples = 100, .seconds = 0.1});
  steps.push_back({.samples = 100, .seconds = 1.1});
  EXPECT_NEAR(audit(steps).samples_per_second(), 500, 1e-9);  // a mean of the rates would say 909
}

TEST(Audit, TheTailCountsItsRealSamples) {
  const auto shape = epoch_shape(1000, 128, true);
  EXPECT_EQ(shape.full_steps, 7);
  EXPECT_EQ(shape.tail_samples, 104);
  std::vector<ExecutedStep> steps;
  for (std::int64_t i = 0; i < shape.full_steps; ++i) steps.push_back({.samples = 128, .seconds = 0.1});
  steps.push_back({.samples = shape.tail_samples, .seconds = 0.1, .tail = true});
  const auto work = audit(steps);
  EXPECT_EQ(work.steps, 8);
  EXPECT_EQ(work.tail_steps, 1);
  EXPECT_EQ(work.samples, 1000);
  EXPECT_NEAR(work.samples_per_second(), 1250, 1e-9);  // counting a padded batch would say 1280
}

TEST(Audit, WaitingIsInsideOfTheTime) {
  const auto work = audit(std::vector<ExecutedStep>(4, {.samples = 10, .seconds = 0.5, .data_wait_seconds = 0.4}));
  EXPECT_NEAR(work.samples_per_second(), 20, 1e-9);
  EXPECT_NEAR(work.data_wait_seconds, 1.6, 1e-9);
}

TEST(Audit, RefusesWhatCannotHaveBeenExecuted) {
  EXPECT_THROW(audit(std::vector<ExecutedStep>{{.samples = 0, .seconds = 1}}), std::invalid_argument);
  EXPECT_THROW(audit(std::vector<ExecutedStep>{{.samples = 1, .seconds = -1}}), std::invalid_argument);
  EXPECT_THROW(audit(std::vector<ExecutedStep>{{.samples = 1, .seconds = NAN}}), std::invalid_argument);
  EXPECT_EQ(audit({}).samples, 0);
}

TEST(EpochShape, DroppedAndMissingTails) {
  EXPECT_EQ(epoch_shape(1000, 128, false).steps(), 7);
  EXPECT_EQ(epoch_shape(1024, 128, true).steps(), 8);
  EXPECT_EQ(epoch_shape(100, 128, true).steps(), 1);
  EXPECT_EQ(epoch_shape(100, 128, false).steps(), 0);
}

TEST(Audit, SkippedStepsCostTimeAndAreCreditedWithNothing) {
  std::vector<ExecutedStep> steps(1000, ExecutedStep{.samples = 10, .seconds = 0.1});
  for (size_t i = 0; i < 30; ++i) steps[i * 33].skipped = true;
  const AuditedWork work = audit(steps);
  EXPECT_EQ(work.steps, 970);
  EXPECT_EQ(work.skipped_steps, 30);
  EXPECT_EQ(work.samples, 9700);
  EXPECT_NEAR(work.seconds, 100, 1e-9);
  EXPECT_NEAR(work.samples_per_second(), 97, 1e-9);
}

}  // namespace
}  // namespace gpusizer
