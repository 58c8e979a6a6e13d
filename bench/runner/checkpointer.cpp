// SPDX-License-Identifier: Apache-2.0
// When a checkpoint is due, what goes into it, and what the record says of it.
#include "bench/runner/checkpointer.hpp"

#include <fmt/format.h>

#include <memory>
#include <numeric>

#include "bench/runner/checkpoint_history.hpp"
#include "bench/runner/gathered_tensors.hpp"
#include "bench/runner/rank_figures.hpp"

namespace gpusizer {
namespace {

using record::Maybe;

constexpr const char* seconds_name = "checkpoint.seconds";
constexpr const char* resumed_name = "resumed_at_step";

std::vector<double> list_or_nothing(const History& history, const char* name) {
  const auto found = history.find(name);
  return found == history.end() ? std::vector<double>{} : found->second;
}

std::int64_t steps_between(const PreparedCase& p) {
  return p.config.checkpoint_every.value_or(p.loop.steps_per_epoch);
}

HeldTensors held_by(ExecutorTrainer& trainer) {
  return {trainer.executor(), trainer.program_count(), *trainer.others()};
}

// Of this rank, or of all.
std::unique_ptr<TensorStore> tensors_of(ExecutorTrainer& trainer) {
  if (trainer.others()) return std::make_unique<GatheredTensors>(held_by(trainer));
  return executor_tensors(trainer.executor(), trainer.program_count());
}

// The result with what only other ranks know of its steps.
LoopResult complete(const LoopResult& result, const ExecutorTrainer& trainer) {
  LoopResult whole = result;
  if (trainer.others()) add_tokens_of_others(trainer, whole);
  return whole;
}

bool is_due(const LoopResult& result, std::int64_t every) {
  return !result.non_finite_step && static_cast<std::int64_t>(result.steps.size()) % every == 0;
}

}  // namespace

Checkpointer::Checkpointer(const PreparedCase& prepared, const std::string& case_id, ExecutorTrainer& trainer,
                           Clock& clock)
    : case_id_(checkpoint_id(prepared.config, case_id)),
      config_(checkpoint_config(prepared)),
      seed_(prepared.config.seed),
      every_(steps_between(prepared)),
      steps_per_epoch_(prepared.loop.steps_per_epoch),
      folder_(prepared.config.checkpoint, case_id_),
      trainer_(trainer),
      clock_(clock) {}

void Checkpointer::go_on(const std::optional<CheckpointStart>& start, LoopResult& result) {
  Communicator* const others = trainer_.others();
  if (others) others->broadcast(0, start ? "there is one" : "");
  if (!start) return;
  const Checkpoint checkpoint = load_checkpoint(start->from.path, *tensors_of(trainer_));
  if (others) others->broadcast(0, packed(checkpoint.history));
  if (others) others->broadcast(0, fmt::format("{}", checkpoint.random_state[1]));
  result = result_of(checkpoint.history, start->from.path.string());
  if (static_cast<std::int64_t>(result.steps.size()) != checkpoint.step)
    throw Error(Fault::input,
                fmt::format("the checkpoint of step {} has {} steps", checkpoint.step, result.steps.size()),
                start->from.path.string(), "use another one");
  trainer_.go_on_after(checkpoint.step, checkpoint.random_state);
  seconds_ = list_or_nothing(checkpoint.history, seconds_name);
  resumed_at_ = list_or_nothing(checkpoint.history, resumed_name);
  resumed_at_.push_back(static_cast<double>(checkpoint.step));
  saved_step_ = checkpoint.step;
  passed_over_ = start->passed_over;
}

bool Checkpointer::after_step(const LoopResult& result) {
  if (!is_due(result, every_)) return false;
  save(result);
  return true;
}

void Checkpointer::at_end(const LoopResult& result) {
  if (!result.non_finite_step && !result.steps.empty()) save(result);
}

void Checkpointer::save(const LoopResult& result) {
  if (!trainer_.others() && static_cast<std::int64_t>(result.steps.size()) == saved_step_) return;
  trainer_.average_for_checkpoint();
  const LoopResult whole = complete(result, trainer_);
  const auto tensors = tensors_of(trainer_);
  if (static_cast<std::int64_t>(result.steps.size()) != saved_step_) write(whole, *tensors);
}

void Checkpointer::write(const LoopResult& result, TensorStore& tensors) {
  const auto step = static_cast<std::int64_t>(result.steps.size());
  Checkpoint checkpoint{.case_id = case_id_,
                        .config = config_,
                        .seed = seed_,
                        .step = step,
                        .epoch = step / steps_per_epoch_,
                        .epoch_step = step % steps_per_epoch_,
                        .random_state = trainer_.random_state(),
                        .history = history_of(result)};
  checkpoint.history[seconds_name] = seconds_;
  checkpoint.history[resumed_name] = resumed_at_;
  const double start = clock_.seconds();
  try {
    bytes_ = save_checkpoint(folder_.path_of(step), checkpoint, tensors);
  } catch (const Error& error) {
    if (error.fault() != Fault::environment) throw;
    ++problems_;
    problem_ = error.what();
    return;
  }
  folder_.tidy(step);
  seconds_.push_back(clock_.seconds() - start);
  saved_step_ = step;
}

FollowingCheckpointer::FollowingCheckpointer(const PreparedCase& prepared, ExecutorTrainer& trainer)
    : every_(steps_between(prepared)), trainer_(trainer) {}

void FollowingCheckpointer::go_on(LoopResult& result) {
  Communicator& others = *trainer_.others();
  if (others.broadcast(0, "").empty()) return;
  serve_tensors(held_by(trainer_));
  result = result_of(unpacked(others.broadcast(0, "")), "rank 0");
  const std::int32_t number = std::stoi(others.broadcast(0, ""));
  trainer_.go_on_after(static_cast<std::int64_t>(result.steps.size()), {0, number});
}

bool FollowingCheckpointer::after_step(const LoopResult& result) {
  if (!is_due(result, every_)) return false;
  save(result);
  return true;
}

void FollowingCheckpointer::at_end(const LoopResult& result) {
  if (!result.non_finite_step && !result.steps.empty()) save(result);
}

void FollowingCheckpointer::save(const LoopResult& result) {
  trainer_.average_for_checkpoint();
  complete(result, trainer_);
  serve_tensors(held_by(trainer_));
}

void Checkpointer::fill(record::Case& record) const {
  auto& figures = record.checkpoints.emplace();
  figures.count = static_cast<std::int64_t>(seconds_.size());
  figures.bytes = bytes_ > 0 ? Maybe<std::int64_t>(bytes_) : Maybe<std::int64_t>::missing("none was written");
  figures.mean_seconds = figures.last_seconds = Maybe<double>::missing("none was written");
  if (!seconds_.empty()) {
    figures.mean_seconds =
        std::accumulate(seconds_.begin(), seconds_.end(), 0.0) / static_cast<double>(seconds_.size());
    figures.last_seconds = seconds_.back();
  }
  figures.resumed_at_step = resumed_at_.empty() ? Maybe<std::int64_t>::missing("it was not interrupted")
                                                : Maybe<std::int64_t>(resumed_steps());
  if (!resumed_at_.empty())
    record.validity_flags.push_back(
        {.id = "resumed",
         .sentence = fmt::format(
             "The case went on from a checkpoint after step {}; the steps until there were timed before it{}{}.",
             resumed_steps(), passed_over_.empty() ? "" : "; passed over: ", passed_over_),
         .blocks_advice = false});
  if (problems_ > 0)
    record.validity_flags.push_back({.id = "checkpoint_failed",
                                     .sentence = fmt::format("{} of {} checkpoints could not be written: {}.",
                                                             problems_, figures.count + problems_, problem_),
                                     .blocks_advice = false});
}

}  // namespace gpusizer
