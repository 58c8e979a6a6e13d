// SPDX-License-Identifier: Apache-2.0
// The heart of a run: trains step after step, times each one, and knows when to stop.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/audit.hpp"
#include "bench/runner/clock.hpp"
#include "bench/runner/learning_rate.hpp"
#include "bench/stopping/stopping.hpp"

namespace gpusizer {

struct StepOutcome {
  std::int64_t samples = 0;
  bool tail = false;
  double loss = 0;
  bool finite = true;
  // Asynchronous steps tell the loss of so many steps ago; in the first ones there is none yet.
  std::int64_t loss_steps_ago = 0;
  bool has_loss = true;
  bool skipped = false;  // a gradient was not finite, and mixed precision left the parameters as they were
  double data_wait_seconds = 0;
  std::int64_t bucket = 0;
  std::int64_t real_tokens = 0, padded_tokens = 0;  // of text
};

struct Evaluation {
  std::optional<double> accuracy;  // share of right answers; nothing when the model has no right ones
  double loss = 0;                 // mean over the samples
  std::map<std::string, std::optional<double>> outputs;  // means of the program's outputs; nothing: of no thing at all
  std::int64_t samples = 0;
  bool complete = true;  // false: interrupted before the last sample, so the numbers are of a part only
};

// What the loop drives: one workload on one executor, or a fake of both.
class Trainer {
 public:
  virtual ~Trainer() = default;
  // Trains one step and returns when it is finished.
  virtual StepOutcome step(double learning_rate) = 0;
  // Every sample of the test set once; training may go on afterwards.
  virtual Evaluation evaluate() = 0;
  // Whether other ranks take the same steps and evaluations. Then an end that they cannot foresee is announced, and they
  // learn of it with one more step, or, where steps are asynchronous, some steps later: when this rank hears it, too.
  virtual bool has_followers() const { return false; }
  virtual void announce_end(bool /*with_evaluation*/) {}
  virtual bool heard_end() const { return true; }
};

struct LoopPlan {
  LearningRate learning_rate;
  std::int64_t steps_per_epoch = 0;
  std::optional<std::int64_t> total_steps;  // of an exact number of steps or epochs; then precision does not end the loop
  std::string total_reason = "steps_done";  // or "epochs_done"
  std::optional<std::int64_t> max_steps;
  std::optional<double> max_seconds;  // of training; evaluations do not count
  bool evaluate = false;              // after each epoch, and after a last, broken one
  std::optional<double> target_accuracy;
  std::int64_t patience = 0;  // evaluations in a row without a better loss that end the loop; 0: any number
  StoppingOptions stopping;
};

struct EvaluationPoint {
  std::int64_t after_steps = 0;
  double training_seconds = 0;  // until then
  double evaluation_seconds = 0;  // of this one
  Evaluation evaluation;
};

struct LoopResult {
  std::vector<ExecutedStep> steps;
  std::vector<double> losses;  // one for each step; those of the last asynchronous steps come later
  std::int64_t skipped_steps = 0;
  std::vector<EvaluationPoint> evaluations;
  std::string stop_reason = "not_started";  // a word of the report's list
  std::optional<std::int64_t> non_finite_step;  // counted from 1
  double training_seconds = 0;                  // sum of the steps
  std::optional<double> time_to_target_seconds; // training and evaluation
};

// Asked between steps; a number other than 0 is the signal that asks to stop.
using StopRequested = std::function<int()>;
// Told after each step and evaluation; must be quick.
using LoopProgress = std::function<void(const LoopResult&)>;

// Asked after each step and its evaluation: may save what is needed to go on later. True: that took time, which is no
// step's. May be empty.
using SaveProgress = std::function<bool(const LoopResult&)>;

// Steps after which the plan itself ends the loop; nothing when only something measured does.
std::optional<std::int64_t> last_step(const LoopPlan& plan);

// Fills `result` as it goes, so that what was measured stays when the trainer throws. A step's time is from the end of
// the step before (or of an evaluation) to its own end, waiting for data included. A `result` with the steps of an
// earlier process is gone on with: schedule, evaluations, limits and stopping are where they would be without the
// interruption.
void train_and_measure(Trainer& trainer, const LoopPlan& plan, Clock& clock, const StopRequested& stop,
                       const LoopProgress& progress, LoopResult& result, const SaveProgress& save = {});

}  // namespace gpusizer
