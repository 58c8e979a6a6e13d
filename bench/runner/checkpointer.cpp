// SPDX-License-Identifier: Apache-2.0
// When a checkpoint is due, what goes into it, and what the record says of it.
#include "bench/runner/checkpointer.hpp"

#include <fmt/format.h>

#include <numeric>

#include "bench/runner/checkpoint_history.hpp"
#include "workloads/checkpoint/checkpoint.hpp"

namespace gpusizer {
namespace {

using record::Maybe;

constexpr const char* seconds_name = "checkpoint.seconds";
constexpr const char* resumed_name = "resumed_at_step";

std::vector<double> list_or_nothing(const History& history, const char* name) {
  const auto found = history.find(name);
  return found == history.end() ? std::vector<double>{} : found->second;
}

}  // namespace

Checkpointer::Checkpointer(const PreparedCase& prepared, const std::string& case_id, ExecutorTrainer& trainer, Clock& clock)
    : case_id_(checkpoint_id(prepared.config, case_id)),
      config_(checkpoint_config(prepared)),
      seed_(prepared.config.seed),
      every_(prepared.config.checkpoint_every.value_or(prepared.loop.steps_per_epoch)),
      steps_per_epoch_(prepared.loop.steps_per_epoch),
      folder_(prepared.config.checkpoint, case_id_),
      trainer_(trainer),
      clock_(clock) {}

void Checkpointer::go_on(const CheckpointStart& start, LoopResult& result) {
  const Checkpoint checkpoint = load_checkpoint(start.from.path, trainer_.executor(), trainer_.program_count());
  result = result_of(checkpoint.history, start.from.path.string());
  if (static_cast<std::int64_t>(result.steps.size()) != checkpoint.step)
    throw Error(Fault::input,
                fmt::format("the checkpoint of step {} has {} steps", checkpoint.step, result.steps.size()),
                start.from.path.string(), "use another one");
  trainer_.go_on_after(checkpoint.step, checkpoint.random_state);
  seconds_ = list_or_nothing(checkpoint.history, seconds_name);
  resumed_at_ = list_or_nothing(checkpoint.history, resumed_name);
  resumed_at_.push_back(static_cast<double>(checkpoint.step));
  saved_step_ = checkpoint.step;
  passed_over_ = start.passed_over;
}

bool Checkpointer::after_step(const LoopResult& result) {
  const auto step = static_cast<std::int64_t>(result.steps.size());
  if (result.non_finite_step || step == saved_step_ || step % every_ != 0) return false;
  save(result);
  return true;
}

void Checkpointer::at_end(const LoopResult& result) {
  if (!result.non_finite_step && static_cast<std::int64_t>(result.steps.size()) != saved_step_) save(result);
}

void Checkpointer::save(const LoopResult& result) {
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
    bytes_ = save_checkpoint(folder_.path_of(step), checkpoint, trainer_.executor(), trainer_.program_count());
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
