// SPDX-License-Identifier: Apache-2.0
// Feeds batches to programs and collects their results.
#include "bench/runner/executor_trainer.hpp"

#include <cmath>

namespace gpusizer {
namespace {

LoaderOptions training_order(const PreparedCase& p) {
  return {.batch = *p.config.batch, .threads = p.loader_threads, .shuffle = true, .seed = p.config.seed,
          .drop_last = p.epoch.tail_samples == 0, .augment = *p.config.augment, .endless = true};
}

LoaderOptions evaluation_order(const PreparedCase& p) {
  return {.batch = *p.config.batch, .threads = p.loader_threads, .seed = p.config.seed};
}

StepResult collect_one(Executor& executor) {
  const auto result = executor.collect();
  if (!result) throw Error(Fault::failed, "the device lost a step", "", "run again; if it happens again, report it");
  return *result;
}

}  // namespace

ExecutorTrainer::ExecutorTrainer(PreparedCase& prepared, StopRequested stop)
    : prepared_(prepared), stop_(std::move(stop)) {
  const int programs = static_cast<int>(prepared.programs.lowered.size());
  executor_ = prepared.backend->make_executor(std::move(prepared.programs.lowered), prepared.device);
  initialize(*executor_, programs, prepared.config.seed);
  random_state_[0] = static_cast<std::int32_t>(prepared.config.seed);
  train_loader_ = std::make_unique<Loader>(*prepared.train_data, training_order(prepared));
  train_loader_->start_epoch(0);
}

std::vector<Binding> ExecutorTrainer::bind(int program, const Batch& batch, float learning_rate) {
  const Program& p = executor_->program(program).program;
  learning_rate_ = learning_rate;
  std::vector<Binding> bindings;
  const auto add = [&](std::string_view name, const void* data) {
    if (const Tensor* tensor = p.find(name)) bindings.push_back({tensor->id, data});
  };
  for (std::size_t field = 0; field < batch.fields.size(); ++field) add(batch.fields[field].name, batch.data(field));
  add("learning_rate", &learning_rate_);
  add("random_state", random_state_.data());
  return bindings;
}

StepOutcome ExecutorTrainer::step(double learning_rate) {
  const auto batch = train_loader_->next();
  if (!batch) throw Error(Fault::failed, "the data ended before the run", prepared_.config.data);
  const bool tail = batch->samples != *prepared_.config.batch;
  const int program = tail ? prepared_.programs.train_tail : prepared_.programs.train;
  executor_->enqueue(program, bind(program, *batch, static_cast<float>(learning_rate)));
  const StepResult result = collect_one(*executor_);
  ++random_state_[1];
  return {.samples = batch->samples, .tail = tail, .loss = result.loss, .finite = result.finite,
          .data_wait_seconds = train_loader_->last_wait_seconds()};
}

Accuracy ExecutorTrainer::evaluate() {
  if (!test_loader_) test_loader_ = std::make_unique<Loader>(*prepared_.test_data, evaluation_order(prepared_));
  test_loader_->start_epoch(0);
  const std::int64_t full = std::min(*prepared_.config.batch, prepared_.test_data->size());
  Accuracy sum;
  while (const auto batch = test_loader_->next()) {
    const int program = batch->samples == full ? prepared_.programs.evaluate : prepared_.programs.evaluate_tail;
    executor_->enqueue(program, bind(program, *batch, 0));
    const StepResult result = collect_one(*executor_);
    sum.accuracy += result.correct;
    sum.loss += result.loss * static_cast<double>(batch->samples);
    sum.samples += batch->samples;
    if (stop_() != 0) break;
  }
  sum.complete = sum.samples == prepared_.test_data->size();
  sum.accuracy /= static_cast<double>(sum.samples);
  sum.loss /= static_cast<double>(sum.samples);
  return sum;
}

PhaseSeconds ExecutorTrainer::profile(std::int64_t steps) {
  PhaseSeconds sum;
  const int program = prepared_.programs.train;
  const auto& operations = executor_->program(program).program.operations;
  while (sum.steps < steps && stop_() == 0) {
    const auto batch = train_loader_->next();
    if (!batch || batch->samples != *prepared_.config.batch) continue;
    for (const OperationTime& time : executor_->profile(program, bind(program, *batch, learning_rate_))) {
      const Phase phase = operations[static_cast<std::size_t>(time.operation)].phase;
      (phase == Phase::forward ? sum.forward : phase == Phase::backward ? sum.backward : sum.update) += time.seconds;
    }
    ++sum.steps;
    ++random_state_[1];
  }
  if (sum.steps == 0) return sum;
  for (double* phase : {&sum.forward, &sum.backward, &sum.update}) *phase /= static_cast<double>(sum.steps);
  return sum;
}

}  // namespace gpusizer
