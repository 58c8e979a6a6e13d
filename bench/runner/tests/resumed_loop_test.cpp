// SPDX-License-Identifier: Apache-2.0
// The measuring loop with checkpoints: saving is in no step's time, and a run goes on as if nothing had happened.
#include <gtest/gtest.h>

#include "bench/runner/checkpoint_history.hpp"
#include "bench/runner/measuring_loop.hpp"

namespace gpusizer {
namespace {

class SecondsClock final : public Clock {
 public:
  double seconds() override { return now; }
  double now = 1000;
};

// A step takes 1/8 s, an evaluation 50 s (every second long is exact in binary); what is learned depends on the step
// alone.
class ShortTrainer final : public Trainer {
 public:
  explicit ShortTrainer(SecondsClock& clock) : clock_(clock) {}

  StepOutcome step(double rate) override {
    clock_.now += 0.125;
    rates.push_back(rate);
    ++steps;
    return {.samples = 4, .loss = 1.0 / static_cast<double>(steps)};
  }
  Evaluation evaluate() override {
    clock_.now += 50;
    ++evaluations;
    return {.accuracy = static_cast<double>(steps) / 1000, .loss = 1, .samples = 10, .complete = steps != cut_short_at};
  }

  std::int64_t steps = 0, cut_short_at = -1;
  int evaluations = 0;
  std::vector<double> rates;

 private:
  SecondsClock& clock_;
};

struct FakeRun {
  SecondsClock clock;
  ShortTrainer trainer{clock};
  LoopPlan plan{.learning_rate = {.highest = 0.5}, .steps_per_epoch = 10, .total_steps = 40, .evaluate = true};
  LoopResult result;
  std::int64_t signal_at = -1;
  int saves = 0;

  void go(const SaveProgress& save = {}) {
    train_and_measure(
        trainer, plan, clock, [&] { return trainer.steps == signal_at ? 15 : 0; }, [](const LoopResult&) {}, result,
        save);
  }
  // A second process after the first one: it has what a checkpoint holds.
  FakeRun next() const {
    FakeRun run;
    run.plan = plan;
    run.result = result_of(history_of(result), "c");
    run.trainer.steps = trainer.steps;
    return run;
  }
};

TEST(ResumedLoop, SavingIsInNoStepsTime) {
  FakeRun run;
  run.go([&](const LoopResult& now) {
    if (now.steps.size() % 5 != 0) return false;
    EXPECT_EQ(now.evaluations.size(), now.steps.size() / 10);  // an evaluation that is due is saved with its step
    run.clock.now += 1000;
    ++run.saves;
    return true;
  });
  EXPECT_EQ(run.saves, 8);
  for (const ExecutedStep& step : run.result.steps) EXPECT_EQ(step.seconds, 0.125);
}

TEST(ResumedLoop, GoesOnAsIfNothingHadHappened) {
  FakeRun whole;
  whole.go();
  for (std::int64_t interrupted : {1, 9, 10, 11, 39, 40}) {
    FakeRun first;
    first.signal_at = interrupted;
    first.trainer.cut_short_at = interrupted;
    first.go();
    EXPECT_EQ(first.result.stop_reason, "interrupted");
    EXPECT_EQ(first.result.evaluations.size(), static_cast<std::size_t>((interrupted - 1) / 10));
    FakeRun second = first.next();
    second.go();
    EXPECT_EQ(second.result.stop_reason, "steps_done");
    EXPECT_EQ(history_of(second.result), history_of(whole.result)) << interrupted;
    std::vector<double> rates = first.trainer.rates;
    rates.insert(rates.end(), second.trainer.rates.begin(), second.trainer.rates.end());
    EXPECT_EQ(rates, whole.trainer.rates);
  }
}

TEST(ResumedLoop, AFinishedEvaluationIsNotRepeated) {
  FakeRun first;
  first.plan.total_steps = 10;
  first.go();
  ASSERT_EQ(first.result.evaluations.size(), 1u);
  FakeRun second = first.next();
  second.go();
  EXPECT_EQ(second.trainer.evaluations, 0);
  EXPECT_TRUE(second.trainer.rates.empty());
}

TEST(ResumedLoop, TheTimeLimitCountsAllProcesses) {
  FakeRun first;
  first.plan.max_seconds = 3;  // 24 steps
  first.signal_at = 20;
  first.go();
  FakeRun second = first.next();
  second.go();
  EXPECT_EQ(second.result.stop_reason, "max_seconds");
  EXPECT_EQ(second.result.steps.size(), 24u);
}

TEST(ResumedLoop, PrecisionIsJudgedOnAllSteps) {
  FakeRun first;
  first.plan.total_steps.reset();
  first.plan.evaluate = false;
  first.signal_at = 45;
  first.go();
  FakeRun second = first.next();
  second.go();
  EXPECT_EQ(second.result.stop_reason, "precision_reached");
  EXPECT_EQ(second.result.steps.size(), 51u);  // the first step and fifty that count
}

}  // namespace
}  // namespace gpusizer
