// SPDX-License-Identifier: Apache-2.0
// Feeds batches to programs and collects their results.
#include "bench/runner/executor_trainer.hpp"

#include <algorithm>
#include <cstddef>

#include "bench/runner/case_data.hpp"
#include "bench/runner/evaluation_sums.hpp"
#include "workloads/transforms/gradient_accumulation.hpp"

namespace gpusizer {
namespace {

LoaderOptions training_order(const PreparedCase& p) {
  return {.batch = *p.config.batch, .threads = p.loader_threads, .shuffle = true, .seed = p.config.seed,
          .drop_last = p.tails_per_epoch() == 0, .augment = *p.config.augment, .endless = true};
}

LoaderOptions evaluation_order(const PreparedCase& p) {
  return {.batch = *p.config.batch, .threads = p.loader_threads, .seed = p.config.seed};
}

StepResult collect_one(Executor& executor) {
  const auto result = executor.collect();
  if (!result) throw Error(Fault::failed, "the device lost a step", "", "run again; if it happens again, report it");
  return *result;
}

// With a loss scale a step whose gradients overflowed is skipped; the device tells by a factor of 0.
bool is_skipped(const Program& program, const StepResult& result) {
  if (!program.find("loss_scale")) return false;
  const auto factor = std::ranges::find(program.outputs, "gradient_factor", &ProgramOutput::name);
  return factor != program.outputs.end() && result.outputs[static_cast<std::size_t>(factor - program.outputs.begin())] == 0;
}

}  // namespace

ExecutorTrainer::ExecutorTrainer(PreparedCase& prepared, StopRequested stop)
    : prepared_(prepared), stop_(std::move(stop)), program_count_(static_cast<int>(prepared.programs.lowered.size())) {
  executor_ = prepared.backend->make_executor(std::move(prepared.programs.lowered), prepared.device);
  initialize(*executor_, program_count_, prepared.config.seed);
  random_state_[0] = static_cast<std::int32_t>(prepared.config.seed);
  train_loader_ = std::make_unique<Loader>(*prepared.train_data, training_order(prepared));
  train_loader_->start_epoch(0);
}

void ExecutorTrainer::go_on_after(std::int64_t steps, std::array<std::int32_t, 2> random_state) {
  random_state_ = random_state;
  train_loader_->start_epoch(steps / train_loader_->batches_per_epoch(), steps % train_loader_->batches_per_epoch());
}

std::vector<Binding> ExecutorTrainer::bind(int program, const Batch& batch, float learning_rate) {
  const Program& p = executor_->program(program).program;
  const std::int64_t micro_batches = prepared_.config.accumulate > 1 ? prepared_.config.accumulate : 0;
  learning_rate_ = learning_rate;
  std::vector<Binding> bindings;
  const auto add = [&](std::string_view name, const void* data) {
    if (const Tensor* tensor = p.find(name)) bindings.push_back({tensor->id, data});
  };
  for (std::size_t field = 0; field < batch.fields.size(); ++field) {
    const Field& one = batch.fields[field];
    const auto* data = static_cast<const std::byte*>(batch.data(field));
    add(one.name, data);
    const std::int64_t part_bytes = batch.samples / prepared_.config.accumulate * one.values() * 4;
    for (std::int64_t part = 0; part < micro_batches; ++part)
      add(micro_batch_name(one.name, part), data + part * part_bytes);
  }
  add("learning_rate", &learning_rate_);
  add("random_state", random_state_.data());
  return bindings;
}

const BucketPrograms& ExecutorTrainer::programs_of(const Batch& batch) const {
  return prepared_.programs.buckets[static_cast<std::size_t>(batch.bucket)];
}

// Text has a length for each sample; what the program works on beyond it is padding.
void ExecutorTrainer::count_tokens(const Batch& batch, StepOutcome& outcome) const {
  for (std::size_t field = 0; field < batch.fields.size(); ++field) {
    if (batch.fields[field].name != "lengths") continue;
    for (const std::int32_t length : batch.values<std::int32_t>(field)) outcome.real_tokens += length;
    outcome.padded_tokens = batch.samples * bucket_options(prepared_, batch.bucket).sequence - outcome.real_tokens;
  }
}

StepOutcome ExecutorTrainer::step(double learning_rate) {
  const auto batch = train_loader_->next();
  if (!batch) throw Error(Fault::failed, "the data ended before the run", prepared_.config.data);
  const bool tail = batch->samples != *prepared_.config.batch;
  const int program = tail ? programs_of(*batch).train_tail : programs_of(*batch).train;
  executor_->enqueue(program, bind(program, *batch, static_cast<float>(learning_rate)));
  const StepResult result = collect_one(*executor_);
  ++random_state_[1];
  StepOutcome outcome{.samples = batch->samples, .tail = tail, .loss = result.loss, .finite = result.finite,
                      .data_wait_seconds = train_loader_->last_wait_seconds(), .bucket = batch->bucket};
  outcome.skipped = is_skipped(executor_->program(program).program, result);
  count_tokens(*batch, outcome);
  return outcome;
}

Evaluation ExecutorTrainer::evaluate() {
  if (!test_loader_) test_loader_ = std::make_unique<Loader>(*prepared_.test_data, evaluation_order(prepared_));
  test_loader_->start_epoch(0);
  EvaluationSums sums;
  while (const auto batch = test_loader_->next()) {
    const bool tail = batch->samples != *prepared_.config.batch;
    const int program = tail ? programs_of(*batch).evaluate_tail : programs_of(*batch).evaluate;
    executor_->enqueue(program, bind(program, *batch, 0));
    sums.add(executor_->program(program).program, collect_one(*executor_));
    if (stop_() != 0) break;
  }
  Evaluation evaluation = sums.means();
  evaluation.complete = evaluation.samples == prepared_.test_data->size();
  return evaluation;
}

PhaseSeconds ExecutorTrainer::profile(std::int64_t steps) {
  PhaseSeconds sum;
  const bool any_full = std::ranges::any_of(prepared_.epoch, [](const EpochShape& e) { return e.full_steps > 0; });
  while (sum.steps < steps && stop_() == 0) {
    const auto batch = train_loader_->next();
    if (!batch) break;
    const bool tail = batch->samples != *prepared_.config.batch;
    if (tail && any_full) continue;
    const int program = tail ? programs_of(*batch).train_tail : programs_of(*batch).train;
    const auto& operations = executor_->program(program).program.operations;
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
