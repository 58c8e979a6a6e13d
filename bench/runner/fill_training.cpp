// SPDX-License-Identifier: Apache-2.0
// Losses and evaluations -> how well the model learned.
#include <cmath>

#include "bench/runner/fill_measurement.hpp"

namespace gpusizer {
namespace {

using record::Maybe;

Maybe<double> finite(double value, const char* otherwise) {
  return std::isfinite(value) ? Maybe<double>(value) : Maybe<double>::missing(otherwise);
}

void fill_loss_curve(record::Training& training, const std::vector<double>& losses) {
  const std::size_t stride = (losses.size() + longest_loss_curve - 1) / longest_loss_curve;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    if (i % stride != 0 && i + 1 != losses.size()) continue;
    training.loss_curve.push_back({.step = static_cast<std::int64_t>(i + 1), .loss = finite(losses[i], "the loss was not finite")});
  }
}

std::int64_t samples_of(const LoopResult& result, std::int64_t steps) {
  std::int64_t samples = 0;
  for (std::int64_t i = 0; i < steps; ++i) samples += result.steps[static_cast<std::size_t>(i)].samples;
  return samples;
}

Maybe<double> accuracy_of(const Evaluation& evaluation) {
  if (!evaluation.accuracy) return Maybe<double>::missing("this model has no right or wrong answers");
  return finite(*evaluation.accuracy, "the accuracy was not finite");
}

// `epoch_samples`: what one pass over the data has.
void fill_evaluations(record::Training& training, const LoopResult& result, double epoch_samples) {
  for (const EvaluationPoint& point : result.evaluations)
    training.evaluations.push_back({.epochs = static_cast<double>(samples_of(result, point.after_steps)) / epoch_samples,
                                    .accuracy = accuracy_of(point.evaluation),
                                    .loss = finite(point.evaluation.loss, "the loss was not finite"),
                                    .samples = point.evaluation.samples,
                                    .training_seconds = point.training_seconds,
                                    .outputs = point.evaluation.outputs});
}

double samples_of_planned_epoch(const LoopResult& result, const LoopPlan& plan) {
  return result.steps.empty() ? 1.0 : static_cast<double>(plan.steps_per_epoch * result.steps.front().samples);
}

}  // namespace

void fill_training(record::Case& record, const LoopResult& result, const LoopPlan& plan) {
  record::Training& training = record.training;
  fill_loss_curve(training, result.losses);
  // Data without an end is still evaluated after as many steps as are called an epoch.
  const auto& dataset = record.config.dataset_samples;
  fill_evaluations(training, result, dataset ? static_cast<double>(*dataset) : samples_of_planned_epoch(result, plan));
  training.final_loss = result.losses.empty() ? Maybe<double>::missing("no step was finished")
                                              : finite(result.losses.back(), "the loss was not finite");
  training.accuracy = training.evaluations.empty()
                          ? Maybe<double>::missing(plan.evaluate ? "no evaluation was finished" : "no evaluation was asked for")
                          : training.evaluations.back().accuracy;
  const auto executed = static_cast<double>(samples_of(result, static_cast<std::int64_t>(result.steps.size())));
  training.epochs = dataset ? Maybe<double>(executed / static_cast<double>(*dataset))
                            : Maybe<double>::missing("made-up data has no end");
  training.time_to_target_seconds =
      Maybe<double>(result.time_to_target_seconds, plan.target_accuracy ? "the target accuracy was not reached"
                                                                        : "no target accuracy was asked for");
  training.non_finite_step = Maybe<std::int64_t>(result.non_finite_step, "every loss was finite");
}

}  // namespace gpusizer
