// SPDX-License-Identifier: Apache-2.0
// Feeds batches to programs and collects their results.
#include "bench/runner/executor_trainer.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "bench/runner/case_data.hpp"
#include "bench/runner/rehearsed_fault.hpp"
#include "workloads/backend/communicator/communicator.hpp"
#include "workloads/transforms/gradient_accumulation.hpp"
#include "workloads/transforms/shared_results.hpp"

namespace gpusizer {
namespace {

LoaderOptions training_order(const PreparedCase& p, const RankPlace& place) {
  return {.batch = whole_batch(p.config), .threads = p.loader_threads, .shuffle = true, .seed = p.config.seed,
          .drop_last = p.tails_per_epoch() == 0, .augment = *p.config.augment,
          .share = {place.replica, p.config.parallel.dp}, .endless = true};
}

LoaderOptions evaluation_order(const PreparedCase& p, const RankPlace& place) {
  return {.batch = *p.config.batch, .threads = p.loader_threads, .seed = p.config.seed,
          .share = {place.replica, p.config.parallel.dp, true}};
}

StepResult collect_one(Executor& executor) {
  const auto result = executor.collect();
  if (!result) throw Error(Fault::failed, "the device lost a step", "", "run again; if it happens again, report it");
  return *result;
}

double output_of(const Program& program, const StepResult& result, const char* name, double otherwise) {
  const auto output = std::ranges::find(program.outputs, name, &ProgramOutput::name);
  if (output == program.outputs.end()) return otherwise;
  return result.outputs[static_cast<std::size_t>(output - program.outputs.begin())];
}

// With a loss scale a step whose gradients overflowed is skipped; the device tells by a factor of 0.
bool is_skipped(const Program& program, const StepResult& result) {
  return output_of(program, result, "gradient_factor", 1) == 0 && program.find("loss_scale");
}

// A program has thousands of tensors, of which a step names few.
std::vector<const Tensor*> bound_tensors(const Program& program) {
  std::vector<const Tensor*> bound;
  for (const Tensor& tensor : program.tensors)
    if (tensor.role == Role::input || tensor.role == Role::scalar) bound.push_back(&tensor);
  return bound;
}

// Replicas draw other random numbers; a replica's ranks draw the same.
std::int32_t seed_of(const PreparedCase& p, const RankPlace& place) {
  const auto replica = static_cast<std::uint32_t>(place.replica);
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(p.config.seed) ^ (replica * 0x9E3779B9u));
}

constexpr int kWish = 100;  // a follower's vote: more than what rank 0 announces

}  // namespace

ExecutorTrainer::ExecutorTrainer(const PreparedCase& prepared, PreparedRank& rank, StopRequested stop,
                                 Communicator* others)
    : prepared_(prepared), rank_(rank), stop_(std::move(stop)), others_(others),
      program_count_(static_cast<int>(rank.programs.lowered.size())) {
  executor_ = prepared.backend->make_executor(std::move(rank.programs.lowered), prepared.device, others);
  for (int i = 0; i < program_count_; ++i) bound_.push_back(bound_tensors(executor_->program(i).program));
  initialize(*executor_, program_count_, prepared.config.seed);
  random_state_[0] = seed_of(prepared, rank.place);
  train_loader_ = std::make_unique<Loader>(*prepared.train_data, training_order(prepared, rank.place));
  train_loader_->start_epoch(0);
}

std::array<std::int32_t, 2> ExecutorTrainer::random_state() const {
  return {static_cast<std::int32_t>(prepared_.config.seed), random_state_[1]};
}

void ExecutorTrainer::go_on_after(std::int64_t steps, std::array<std::int32_t, 2> random_state) {
  earlier_steps_ = steps;
  random_state_[1] = random_state[1];
  train_loader_->start_epoch(steps / train_loader_->batches_per_epoch(), steps % train_loader_->batches_per_epoch());
}

std::vector<Binding> ExecutorTrainer::bind(int program, const Batch& batch, float learning_rate) {
  const auto& bound = bound_[static_cast<std::size_t>(program)];
  const std::int64_t micro_batches = prepared_.config.accumulate > 1 ? prepared_.config.accumulate : 0;
  learning_rate_ = learning_rate;
  std::vector<Binding> bindings;
  const auto add = [&](std::string_view name, const void* data) {
    const auto it = std::ranges::find(bound, name, &Tensor::name);
    if (it != bound.end()) bindings.push_back({(*it)->id, data});
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
  vote_ = announced_ + (rank_.place.rank != 0 && stop_() != 0 ? kWish : 0);
  add("stop_vote", &vote_);
  return bindings;
}

const BucketPrograms& ExecutorTrainer::programs_of(const Batch& batch) const {
  return rank_.programs.buckets[static_cast<std::size_t>(batch.bucket)];
}

bool ExecutorTrainer::is_tail(const Batch& batch) const {
  return batch.whole_samples != whole_batch(prepared_.config);
}

// Text has a length for each sample; what the program works on beyond it is padding. Each replica counts once.
void ExecutorTrainer::count_tokens(const Batch& batch, RankStep& step) const {
  if (rank_.place.stage > 0 || rank_.place.slice > 0) return;
  for (std::size_t field = 0; field < batch.fields.size(); ++field) {
    if (batch.fields[field].name != "lengths") continue;
    for (const std::int32_t length : batch.values<std::int32_t>(field)) step.real_tokens += length;
    step.padded_tokens = batch.samples * bucket_options(prepared_, batch.bucket).sequence - step.real_tokens;
  }
}

StepResult ExecutorTrainer::run(int program, const std::vector<Binding>& bindings) {
  executor_->enqueue(program, bindings);
  return collect_one(*executor_);
}

StepOutcome ExecutorTrainer::step(double learning_rate) {
  const std::int64_t number = earlier_steps_ + static_cast<std::int64_t>(rank_steps_.size()) + 1;
  if (others_) others_->enter_step(number);
  if (rehearse_fault(prepared_.config.parallel.fault, rank_.place.rank, number)) spoil_parameters();
  const auto batch = train_loader_->next();
  if (!batch) throw Error(Fault::failed, "the data ended before the run", prepared_.config.data);
  const bool tail = is_tail(*batch);
  const int program = tail ? programs_of(*batch).train_tail : programs_of(*batch).train;
  const StepResult result = run(program, bind(program, *batch, static_cast<float>(learning_rate)));
  ++random_state_[1];
  RankStep& own = rank_steps_.emplace_back(RankStep{result.device_seconds, result.exposed_seconds});
  count_tokens(*batch, own);
  StepOutcome outcome{.samples = batch->whole_samples, .tail = tail, .loss = result.loss, .finite = result.finite,
                      .data_wait_seconds = train_loader_->last_wait_seconds(), .bucket = batch->bucket,
                      .real_tokens = own.real_tokens, .padded_tokens = own.padded_tokens};
  const Program& run_program = executor_->program(program).program;
  outcome.skipped = is_skipped(run_program, result);
  outcome.loss_steps_ago = prepared_.config.parallel.staleness;
  outcome.has_loss = number > outcome.loss_steps_ago;
  hear(run_program, result);
  if (prepared_.config.parallel.mode == "local_sgd") end_local_step(number, outcome);
  return outcome;
}

// What was said in steps of a process before this one, whose checkpoint it goes on from, was said to that process.
void ExecutorTrainer::hear(const Program& program, const StepResult& result) {
  if (static_cast<std::int64_t>(rank_steps_.size()) <= prepared_.config.parallel.staleness) return;
  const int votes = static_cast<int>(output_of(program, result, "stop_votes", 0));
  heard_ = votes % kWish;
  wished_ = votes >= kWish;
}

void ExecutorTrainer::add_late_losses(LoopResult& result) {
  const auto delay = static_cast<std::int32_t>(prepared_.config.parallel.staleness);
  if (prepared_.config.parallel.mode != "async" || result.non_finite_step) return;
  for (std::size_t step = result.losses.size(); step < result.steps.size(); ++step) {
    float loss = 0;
    executor_->read(delayed_loss_name(static_cast<std::int64_t>(step), delay), {&loss, 1});
    result.losses.push_back(static_cast<double>(loss));
    if (std::isfinite(loss)) continue;
    result.non_finite_step = static_cast<std::int64_t>(step) + 1;
    result.stop_reason = "error";
    return;
  }
}

// As a broken processor would: whatever is computed with them is not a number.
void ExecutorTrainer::spoil_parameters() {
  const Program& program = executor_->program(0).program;
  for (const Tensor& tensor : program.tensors) {
    if (tensor.role != Role::parameter || executor_->program(0).tensor_bytes[static_cast<std::size_t>(tensor.id.index)] == 0)
      continue;
    executor_->write(tensor.name, std::vector<float>(static_cast<std::size_t>(element_count(tensor.shape)), NAN));
    return;
  }
}

void ExecutorTrainer::average_replicas() {
  if (rank_.programs.average >= 0) run(rank_.programs.average, {});
}

void ExecutorTrainer::average_for_checkpoint() {
  if (rank_.programs.average_all < 0) return average_replicas();
  run(rank_.programs.average_all, {});
}

// Replicas that step on their own: their losses were summed as they are, and their weights meet now and then.
void ExecutorTrainer::end_local_step(std::int64_t number, StepOutcome& outcome) {
  const ParallelOptions& layout = prepared_.config.parallel;
  outcome.loss /= static_cast<double>(layout.dp);
  if (number % layout.period != 0 || rank_.programs.average < 0) return;
  const StepResult result = run(rank_.programs.average, {});
  rank_steps_.back().device_seconds += result.device_seconds;
  rank_steps_.back().exposed_seconds += result.exposed_seconds;
}

EvaluationSums ExecutorTrainer::evaluate_own_batches() {
  EvaluationSums sums;
  if (!test_loader_)
    test_loader_ = std::make_unique<Loader>(*prepared_.test_data, evaluation_order(prepared_, rank_.place));
  if (test_loader_->batches_per_epoch() == 0) return sums;
  test_loader_->start_epoch(0);
  // The ranks of a replica need each other for every batch: none of them may leave.
  const bool may_leave = prepared_.config.parallel.pp * prepared_.config.parallel.tp == 1;
  while (const auto batch = test_loader_->next()) {
    const bool tail = batch->samples != *prepared_.config.batch;
    const int program = tail ? programs_of(*batch).evaluate_tail : programs_of(*batch).evaluate;
    const StepResult result = run(program, bind(program, *batch, 0));
    const Program& evaluated = executor_->program(program).program;
    if (evaluated.loss.index >= 0 && rank_.place.slice == 0) sums.add(evaluated, result);
    if (may_leave && stop_() != 0) break;
  }
  return sums;
}

Evaluation ExecutorTrainer::evaluate() {
  average_replicas();
  EvaluationSums sums = evaluate_own_batches();
  if (others_) {
    const auto texts = others_->all_gather(sums.text());
    sums = {};
    for (const std::string& text : texts) sums.add_text(text);
  }
  Evaluation evaluation = sums.means();
  evaluation.complete = evaluation.samples == prepared_.test_data->size();
  return evaluation;
}

namespace {

double& seconds_of(PhaseSeconds& sum, Phase phase) {
  if (phase == Phase::forward) return sum.forward;
  if (phase == Phase::backward) return sum.backward;
  return phase == Phase::update ? sum.update : sum.communicate;
}

}  // namespace

PhaseSeconds ExecutorTrainer::profile(std::int64_t steps) {
  PhaseSeconds sum;
  const bool any_full = std::ranges::any_of(prepared_.epoch, [](const EpochShape& e) { return e.full_steps > 0; });
  while (sum.steps < steps && (others_ || stop_() == 0)) {
    const auto batch = train_loader_->next();
    if (!batch) break;
    const bool tail = is_tail(*batch);
    if (tail && any_full) continue;
    const int program = tail ? programs_of(*batch).train_tail : programs_of(*batch).train;
    const auto& operations = executor_->program(program).program.operations;
    if (std::exchange(sum.program, program) != program) sum.operations.assign(operations.size(), 0);
    for (const OperationTime& time : executor_->profile(program, bind(program, *batch, learning_rate_))) {
      const Phase phase = operations[static_cast<std::size_t>(time.operation)].phase;
      seconds_of(sum, phase) += time.seconds;
      sum.operations[static_cast<std::size_t>(time.operation)] += time.seconds;
    }
    ++sum.steps;
    ++random_state_[1];
  }
  if (sum.steps == 0) return sum;
  for (double* phase : {&sum.forward, &sum.backward, &sum.update, &sum.communicate}) *phase /= static_cast<double>(sum.steps);
  for (double& seconds : sum.operations) seconds /= static_cast<double>(sum.steps);
  return sum;
}

}  // namespace gpusizer
