// SPDX-License-Identifier: Apache-2.0
// The measuring loop, one small decision at a time.
#include "bench/runner/measuring_loop.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace gpusizer {
namespace {

class Loop {
 public:
  Loop(Trainer& trainer, const LoopPlan& plan, Clock& clock, const StopRequested& stop, const LoopProgress& progress,
       LoopResult& result, const SaveProgress& save)
      : trainer_(trainer), plan_(plan), clock_(clock), stop_(stop), progress_(progress), result_(result),
        save_(save), stopping_(plan.stopping) {}

  void run() {
    result_.stop_reason = "error";  // what stays if the trainer throws
    for (const ExecutedStep& earlier : result_.steps) judge(earlier);
    mark_ = clock_.seconds();
    if (done() > 0 && evaluation_due() && !evaluated())  // an interruption cut it short
      if (trainer_.has_followers() || stop_() == 0) evaluate();
    std::string reason;
    while ((reason = reason_to_stop()).empty()) go_on();
    const bool announced = trainer_.has_followers() && !ends_by_plan() && announce(reason);
    if (result_.non_finite_step) reason = "error";
    if (broken_epoch_needs_evaluation(reason, trainer_.has_followers() && !announced)) evaluate();
    result_.stop_reason = reason;
  }

 private:
  // Goes on until all ranks know; false: the plan ended the loop before they did.
  bool announce(const std::string& reason) {
    trainer_.announce_end(reason != "interrupted");
    do go_on();
    while (!trainer_.heard_end() && !ends_by_plan());
    return trainer_.heard_end();
  }

  std::int64_t done() const { return static_cast<std::int64_t>(result_.steps.size()); }

  void go_on() {
    train_one_step();
    if (!result_.non_finite_step && evaluation_due()) evaluate();
    if (save_ && save_(result_)) mark_ = clock_.seconds();
    progress_(result_);
  }

  // What all ranks know without being told.
  bool ends_by_plan() const {
    return result_.non_finite_step || done() >= last_step(plan_).value_or(INT64_MAX);
  }

  // The word of the first reason that holds, or empty. Signals come first: they must never be outlived.
  std::string reason_to_stop() const {
    if (stop_() != 0) return "interrupted";
    if (result_.non_finite_step) return "error";
    if (result_.time_to_target_seconds) return "target_reached";
    if (plan_.patience > 0 && evaluations_without_progress() >= plan_.patience) return "no_progress";
    if (plan_.total_steps && done() >= *plan_.total_steps) return plan_.total_reason;
    if (plan_.max_steps && done() >= *plan_.max_steps) return "max_steps";
    if (plan_.max_seconds && result_.training_seconds >= *plan_.max_seconds) return "max_seconds";
    if (plan_.total_steps || plan_.target_accuracy) return "";
    if (verdict_ == Verdict::precise) return "precision_reached";
    return verdict_ == Verdict::no_steady_state ? "no_steady_state" : "";
  }

  void train_one_step() {
    const double rate = plan_.learning_rate.at(done());
    const StepOutcome outcome = trainer_.step(rate);
    const double end = clock_.seconds(), seconds = end - mark_;
    mark_ = end;
    result_.steps.push_back({outcome.samples, seconds, outcome.data_wait_seconds, outcome.tail, outcome.bucket,
                             outcome.real_tokens, outcome.padded_tokens, outcome.skipped});
    if (outcome.skipped) ++result_.skipped_steps;
    if (outcome.has_loss) result_.losses.push_back(outcome.loss);
    result_.training_seconds += seconds;
    // A loss scale that is too high may take the loss with it: the step was skipped, and the next one has a lower scale.
    if (!outcome.skipped && (!outcome.finite || !std::isfinite(outcome.loss)))
      result_.non_finite_step = done() - outcome.loss_steps_ago;
    judge(result_.steps.back());
  }

  // Tails are shorter by construction and decide nothing.
  void judge(const ExecutedStep& step) {
    if (!step.tail) verdict_ = stopping_.add(step.seconds, step.bucket);
  }

  std::int64_t evaluations_without_progress() const {
    const auto best = std::ranges::min_element(result_.evaluations, {}, [](const EvaluationPoint& e) { return e.evaluation.loss; });
    return std::max<std::int64_t>(0, std::distance(best, result_.evaluations.end()) - 1);
  }

  bool evaluation_due() const {
    return plan_.evaluate && plan_.steps_per_epoch > 0 && done() % plan_.steps_per_epoch == 0;
  }

  void evaluate() {
    const double start = clock_.seconds();
    const Evaluation evaluation = trainer_.evaluate();
    mark_ = clock_.seconds();  // the next step does not pay for this
    if (!evaluation.complete) return;  // of a part of the test set: no accuracy
    result_.evaluations.push_back({done(), result_.training_seconds, mark_ - start, evaluation});
    if (!plan_.target_accuracy || result_.time_to_target_seconds) return;
    if (!evaluation.accuracy || *evaluation.accuracy < *plan_.target_accuracy) return;
    result_.time_to_target_seconds = result_.training_seconds;
    for (const EvaluationPoint& point : result_.evaluations) *result_.time_to_target_seconds += point.evaluation_seconds;
  }

  // `foreseen`: by other ranks, which evaluate whatever interrupts this one.
  bool broken_epoch_needs_evaluation(const std::string& reason, bool foreseen) const {
    if (!plan_.evaluate || result_.non_finite_step || done() == 0 || evaluated()) return false;
    return foreseen || reason != "interrupted";
  }

  bool evaluated() const { return !result_.evaluations.empty() && result_.evaluations.back().after_steps == done(); }

  Trainer& trainer_;
  const LoopPlan& plan_;
  Clock& clock_;
  const StopRequested& stop_;
  const LoopProgress& progress_;
  LoopResult& result_;
  const SaveProgress& save_;
  Stopping stopping_;
  double mark_ = 0;  // when the step before, or an evaluation, ended
  Verdict verdict_ = Verdict::keep_going;
};

}  // namespace

std::optional<std::int64_t> last_step(const LoopPlan& plan) {
  const std::int64_t last = std::min(plan.total_steps.value_or(INT64_MAX), plan.max_steps.value_or(INT64_MAX));
  return last == INT64_MAX ? std::nullopt : std::optional(last);
}

void train_and_measure(Trainer& trainer, const LoopPlan& plan, Clock& clock, const StopRequested& stop,
                       const LoopProgress& progress, LoopResult& result, const SaveProgress& save) {
  Loop(trainer, plan, clock, stop, progress, result, save).run();
}

}  // namespace gpusizer
