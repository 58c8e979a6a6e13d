// SPDX-License-Identifier: Apache-2.0
// The measuring loop against a fake trainer and a fake clock: what it stops for, what it counts, what it keeps.
#include "bench/runner/measuring_loop.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "bench/runner/fill_measurement.hpp"

namespace gpusizer {
namespace {

class FakeClock final : public Clock {
 public:
  double seconds() override { return now; }
  double now = 1000;
};

// Every step and evaluation moves the clock by what the test says.
class FakeTrainer final : public Trainer {
 public:
  explicit FakeTrainer(FakeClock& clock) : clock_(clock) {}

  StepOutcome step(double rate) override {
    ++steps;
    rates.push_back(rate);
    if (steps == throw_at) throw std::runtime_error("the device fell off the bus");
    clock_.now += seconds_of(steps);
    const bool tail = steps_per_epoch > 0 && steps % steps_per_epoch == 0;
    return {.samples = tail ? tail_samples : 100, .tail = tail, .loss = steps == nan_at ? NAN : 1.0 / steps,
            .finite = steps != nan_at, .skipped = skip_every > 0 && steps % skip_every == 0};
  }
  Evaluation evaluate() override {
    clock_.now += 50;
    ++evaluations;
    return {.accuracy = 0.2 * evaluations, .loss = 1, .samples = 10};
  }

  std::function<double(int)> seconds_of = [](int) { return 0.1; };
  int steps = 0, evaluations = 0, nan_at = 0, throw_at = 0, steps_per_epoch = 0, skip_every = 0;
  std::int64_t tail_samples = 0;
  std::vector<double> rates;

 private:
  FakeClock& clock_;
};

struct Bench {
  FakeClock clock;
  FakeTrainer trainer{clock};
  LoopPlan plan{.learning_rate = {.highest = 0.1}, .steps_per_epoch = 1000};
  LoopResult result;
  int signal_after = 0;
  record::Maybe<std::int64_t> dataset_samples = record::Maybe<std::int64_t>::missing("endless");

  void run() {
    train_and_measure(trainer, plan, clock, [&] { return signal_after > 0 && trainer.steps >= signal_after ? 15 : 0; },
                      [](const LoopResult&) {}, result);
  }
  record::Case record() const {
    record::Case record;
    record.config.dataset_samples = dataset_samples;
    fill_measurement(record, result, plan, "images");
    fill_training(record, result, plan);
    return record;
  }
};

TEST(MeasuringLoop, StopsWhenPreciseAtTheFirstCheck) {
  Bench bench;
  bench.run();
  EXPECT_EQ(bench.result.stop_reason, "precision_reached");
  EXPECT_EQ(bench.trainer.steps, 51);  // the first step and fifty that count
  EXPECT_NEAR(*bench.record().throughput.value, 1000, 1e-6);
}

TEST(MeasuringLoop, ExactStepsIgnorePrecision) {
  Bench bench;
  bench.plan.total_steps = 120;
  bench.run();
  EXPECT_EQ(bench.result.stop_reason, "steps_done");
  EXPECT_EQ(bench.trainer.steps, 120);
}

TEST(MeasuringLoop, CapsReportTheHalfWidthReached) {
  Bench bench;
  bench.trainer.seconds_of = [](int step) { return step % 2 ? 1.0 : 1.5; };
  bench.plan.max_seconds = 15;
  bench.run();
  const auto record = bench.record();
  EXPECT_EQ(bench.result.stop_reason, "max_seconds");
  EXPECT_EQ(bench.trainer.steps, 12);
  ASSERT_TRUE(record.measurement.half_width_relative);
  EXPECT_GT(*record.measurement.half_width_relative, 0.02);
  EXPECT_LT(*record.throughput.low, *record.throughput.value);
  EXPECT_GT(*record.throughput.high, *record.throughput.value);
  Bench steps;
  steps.plan.max_steps = 7;
  steps.run();
  EXPECT_EQ(steps.result.stop_reason, "max_steps");
  EXPECT_EQ(steps.trainer.steps, 7);
}

TEST(MeasuringLoop, OneStepGivesNoNumberButAReason) {
  Bench bench;
  bench.trainer.seconds_of = [](int) { return 100.0; };
  bench.plan.max_seconds = 10;
  bench.run();
  const auto record = bench.record();
  EXPECT_FALSE(record.throughput.value);
  EXPECT_FALSE(record.throughput.null_reason.empty());
  EXPECT_FALSE(record.measurement.half_width_relative);
  EXPECT_EQ(record.measurement.measured_steps, 0);
}

TEST(MeasuringLoop, TwoStepsGiveAValueWithoutAnInterval) {
  Bench bench;
  bench.plan.max_steps = 2;
  bench.run();
  const auto record = bench.record();
  EXPECT_NEAR(*record.throughput.value, 1000, 1e-6);
  EXPECT_FALSE(record.throughput.low);
  EXPECT_NE(record.throughput.null_reason.find("at least 2"), std::string::npos);
}

TEST(MeasuringLoop, ASlowStepCountsWithItsWholeTime) {
  Bench bench;
  bench.trainer.seconds_of = [](int step) { return step == 6 ? 1.1 : 0.1; };
  bench.plan.total_steps = 11;  // one that is cut, nine of 0.1 s and one of 1.1 s
  bench.run();
  EXPECT_NEAR(*bench.record().throughput.value, 500, 1e-6);
  EXPECT_EQ(*bench.record().measurement.stall_steps, 1);
}

const record::ValidityFlag* flag_named(const record::Case& record, const std::string& id) {
  for (const auto& flag : record.validity_flags)
    if (flag.id == id) return &flag;
  return nullptr;
}

TEST(MeasuringLoop, StallsThatBlurAPreciseMeanAreSaid) {
  Bench bench;
  bench.trainer.seconds_of = [](int step) { return step == 30 ? 1.1 : 0.1; };
  bench.run();
  const auto record = bench.record();
  EXPECT_EQ(bench.result.stop_reason, "precision_reached");
  EXPECT_LT(*record.measurement.half_width_relative, 0.02);
  // One of 50: at most 5.57 in 50, so the mean step of 0.12 s may be 0.211 s and, from below, 0.1005 s.
  ASSERT_TRUE(flag_named(record, "stalls"));
  EXPECT_EQ(flag_named(record, "stalls")->sentence, "Stalls: 1 of 50 steps; the mean including them is known to 43.2 %.");
  EXPECT_FALSE(flag_named(record, "stalls")->blocks_advice);
  EXPECT_FALSE(flag_named(record, "precision_not_reached"));
  Bench calm;
  calm.run();
  EXPECT_FALSE(flag_named(calm.record(), "stalls"));
}

TEST(MeasuringLoop, AMissedTargetNamesTheHalfWidthOfTheThroughput) {
  Bench bench;
  bench.trainer.seconds_of = [](int step) { return step % 2 ? 1.0 : 1.1; };
  bench.plan.max_seconds = 15;
  bench.run();
  const auto record = bench.record();
  const auto& t = record.throughput;
  ASSERT_TRUE(t.high && flag_named(record, "precision_not_reached"));
  const double percent = 100 * std::max(*t.high - *t.value, *t.value - *t.low) / *t.value;
  EXPECT_NE(flag_named(record, "precision_not_reached")->sentence.find(fmt::format("known to {:.1f} %", percent)),
            std::string::npos);
}

TEST(MeasuringLoop, TailsCountButDoNotDecide) {
  Bench bench;
  bench.trainer.steps_per_epoch = 8;
  bench.trainer.tail_samples = 4;
  bench.trainer.seconds_of = [](int step) { return step % 8 == 0 ? 0.01 : 0.1; };
  bench.plan.steps_per_epoch = 8;
  bench.plan.total_steps = 80;
  bench.run();
  const auto record = bench.record();
  const auto& m = record.measurement;
  EXPECT_EQ(m.step_seconds.size(), 80u);
  EXPECT_EQ(m.tail_steps, 10);
  EXPECT_EQ(m.samples, 69 * 100 + 10 * 4);
  EXPECT_NEAR(*record.throughput.value, (6900 + 40) / (6.9 + 0.1), 1e-6);
  EXPECT_NEAR(*m.half_width_relative, 0, 1e-9);  // short tails are no noise
}

TEST(MeasuringLoop, EvaluationsAreOutsideOfTheStepTimes) {
  Bench bench;
  bench.plan.steps_per_epoch = 10;
  bench.plan.total_steps = 30;
  bench.plan.total_reason = "epochs_done";
  bench.plan.evaluate = true;
  bench.run();
  EXPECT_EQ(bench.trainer.evaluations, 3);
  EXPECT_NEAR(bench.result.training_seconds, 3.0, 1e-9);
  EXPECT_NEAR(*bench.record().throughput.value, 1000, 1e-6);
  EXPECT_NEAR(*bench.record().training.accuracy, 0.6, 1e-12);
  EXPECT_NEAR(bench.record().training.evaluations[1].epochs, 2.0, 1e-12);
}

TEST(MeasuringLoop, EpochsAreTheSamplesThatWereExecuted) {
  Bench bench;
  bench.trainer.steps_per_epoch = 8;
  bench.trainer.tail_samples = 50;
  bench.plan.steps_per_epoch = 8;
  bench.plan.total_steps = 12;
  bench.plan.evaluate = true;
  bench.dataset_samples = 750;
  bench.run();
  EXPECT_NEAR(*bench.record().training.epochs, 1150.0 / 750, 1e-12);
  EXPECT_NEAR(bench.record().training.evaluations[0].epochs, 1.0, 1e-12);
  bench.dataset_samples = record::Maybe<std::int64_t>::missing("endless");
  EXPECT_FALSE(bench.record().training.epochs);
}

TEST(MeasuringLoop, ACapInsideAnEpochIsStillEvaluatedOnce) {
  Bench bench;
  bench.plan.steps_per_epoch = 10;
  bench.plan.total_steps = 30;
  bench.plan.max_steps = 15;
  bench.plan.evaluate = true;
  bench.run();
  EXPECT_EQ(bench.trainer.evaluations, 2);
  Bench whole;
  whole.plan = bench.plan;
  whole.plan.max_steps = 20;
  whole.run();
  EXPECT_EQ(whole.trainer.evaluations, 2);
}

TEST(MeasuringLoop, TheTargetEndsTheRunAndItsTimeIncludesEvaluations) {
  Bench bench;
  bench.plan.steps_per_epoch = 10;
  bench.plan.total_steps = 1000;
  bench.plan.evaluate = true;
  bench.plan.target_accuracy = 0.35;
  bench.run();
  EXPECT_EQ(bench.result.stop_reason, "target_reached");
  EXPECT_EQ(bench.trainer.steps, 20);
  EXPECT_NEAR(*bench.result.time_to_target_seconds, 2.0 + 100, 1e-9);
}

TEST(MeasuringLoop, ANonFiniteLossEndsItWithItsStep) {
  Bench bench;
  bench.trainer.nan_at = 7;
  bench.plan.evaluate = true;
  bench.run();
  const auto record = bench.record();
  EXPECT_EQ(bench.trainer.steps, 7);
  EXPECT_EQ(*record.training.non_finite_step, 7);
  EXPECT_EQ(bench.trainer.evaluations, 0);
  EXPECT_FALSE(record.throughput.value);
  ASSERT_FALSE(record.validity_flags.empty());
  EXPECT_EQ(record.validity_flags[0].id, "non_finite_loss");
  EXPECT_TRUE(record.validity_flags[0].blocks_advice);
}

TEST(MeasuringLoop, ASignalKeepsWhatWasMeasured) {
  Bench bench;
  bench.signal_after = 20;
  bench.plan.evaluate = true;
  bench.run();
  EXPECT_EQ(bench.result.stop_reason, "interrupted");
  EXPECT_EQ(bench.result.steps.size(), 20u);
  EXPECT_EQ(bench.trainer.evaluations, 0);
  EXPECT_TRUE(bench.record().throughput.value);
}

TEST(MeasuringLoop, AThrowKeepsWhatWasMeasured) {
  Bench bench;
  bench.trainer.throw_at = 5;
  EXPECT_THROW(bench.run(), std::runtime_error);
  EXPECT_EQ(bench.result.stop_reason, "error");
  EXPECT_EQ(bench.result.steps.size(), 4u);
}

TEST(MeasuringLoop, AnEndlessWarmUpHasNoThroughput) {
  Bench bench;
  bench.trainer.seconds_of = [](int step) { return 1.0 / (1 + 0.01 * step); };
  bench.run();
  EXPECT_EQ(bench.result.stop_reason, "no_steady_state");
  EXPECT_FALSE(bench.record().throughput.value);
}

TEST(MeasuringLoop, SkippedStepsAreToldAndNeverCredited) {
  Bench bench;
  bench.plan.total_steps = 1001;  // the first one never counts
  bench.trainer.skip_every = 33;
  bench.trainer.nan_at = 66;  // an overflow takes the loss of a skipped step with it
  bench.run();
  EXPECT_EQ(bench.result.stop_reason, "steps_done");
  EXPECT_EQ(bench.result.skipped_steps, 30);
  const record::Case record = bench.record();
  const auto& m = record.measurement;
  EXPECT_EQ(m.measured_steps + m.skipped->steps, 1001 - m.warmup_steps);
  EXPECT_EQ(m.samples, 100 * m.measured_steps);
  EXPECT_NEAR(*record.throughput.value, 1000 * static_cast<double>(m.measured_steps) / (1001.0 - static_cast<double>(m.warmup_steps)), 1e-6);
  const auto warning = std::ranges::find(record.validity_flags, "skipped_steps", &record::ValidityFlag::id);
  ASSERT_NE(warning, record.validity_flags.end());
  EXPECT_FALSE(warning->blocks_advice);
  EXPECT_NE(warning->sentence.find("30 of 1001 steps"), std::string::npos) << warning->sentence;
}

TEST(MeasuringLoop, ARunOfSkippedStepsHasNoThroughput) {
  Bench bench;
  bench.plan.total_steps = 40;
  bench.trainer.skip_every = 1;
  bench.run();
  const record::Case record = bench.record();
  EXPECT_FALSE(record.throughput.value);
  EXPECT_NE(record.throughput.null_reason.find("every step was skipped"), std::string::npos);
  EXPECT_EQ(record.measurement.samples, 0);
}

TEST(MeasuringLoop, PatienceEndsARunWithoutProgress) {
  Bench bench;
  bench.plan.steps_per_epoch = 10;
  bench.plan.total_steps = 1000;
  bench.plan.evaluate = true;
  bench.plan.patience = 3;
  bench.run();
  EXPECT_EQ(bench.result.stop_reason, "no_progress");
  EXPECT_EQ(bench.trainer.evaluations, 4);  // the first, whose loss is the best, and three more
}

TEST(LearningRate, FallsInALineOrInSteps) {
  const LearningRate line{.highest = 1.0, .schedule = Schedule::linear, .total_steps = 110, .warmup_steps = 10};
  EXPECT_DOUBLE_EQ(line.at(4), 0.5);
  EXPECT_DOUBLE_EQ(line.at(60), 0.5);
  EXPECT_DOUBLE_EQ(line.at(500), 0);
  const LearningRate step{.highest = 1.0, .schedule = Schedule::step, .total_steps = 100};
  EXPECT_DOUBLE_EQ(step.at(49), 1);
  EXPECT_DOUBLE_EQ(step.at(50), 0.1);
  EXPECT_DOUBLE_EQ(step.at(75), 0.01);
}

TEST(LearningRate, RisesAndFalls) {
  const LearningRate rate{.highest = 1.0, .schedule = Schedule::cosine, .total_steps = 110, .warmup_steps = 10};
  EXPECT_DOUBLE_EQ(rate.at(0), 0.1);
  EXPECT_DOUBLE_EQ(rate.at(9), 1.0);
  EXPECT_DOUBLE_EQ(rate.at(10), 1.0);
  EXPECT_NEAR(rate.at(60), 0.5, 1e-12);
  EXPECT_LT(rate.at(109), 0.001);
  EXPECT_GE(rate.at(500), 0.0);
  EXPECT_DOUBLE_EQ(LearningRate{.highest = 0.3}.at(1'000'000), 0.3);
}

TEST(FillTraining, ALongLossCurveIsThinnedAndKeepsItsEnd) {
  LoopResult result;
  result.losses.assign(12'345, 1.0);
  result.losses.back() = 0.25;
  record::Case record;
  fill_training(record, result, {.steps_per_epoch = 100});
  EXPECT_LE(record.training.loss_curve.size(), longest_loss_curve + 1);
  EXPECT_EQ(record.training.loss_curve.back().step, 12'345);
  EXPECT_EQ(*record.training.loss_curve.back().loss, 0.25);
}

}  // namespace
}  // namespace gpusizer
