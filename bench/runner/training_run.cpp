// SPDX-License-Identifier: Apache-2.0
// The leader's way and the followers', which meet at the same places in the same order.
#include "bench/runner/training_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <optional>
#include <sstream>

#include "bench/runner/checkpointer.hpp"
#include "bench/runner/executor_trainer.hpp"
#include "bench/runner/fill_measurement.hpp"
#include "bench/runner/metrics.hpp"
#include "bench/runner/rank_figures.hpp"
#include "workloads/backend/communicator/communicator.hpp"

namespace gpusizer {
namespace {

using record::Maybe;

constexpr double kSlowStepSeconds = 1.0;

void fill_profile(record::Phases& phases, const PhaseSeconds& mean, bool several_ranks) {
  if (mean.steps == 0) return;
  phases.forward_seconds = mean.forward;
  phases.backward_seconds = mean.backward;
  phases.update_seconds = mean.update;
  if (several_ranks) phases.communicate_seconds = mean.communicate;
  phases.profiled_steps = mean.steps;
}

void fill_phases(record::Case& record, const PreparedCase& prepared, ExecutorTrainer& trainer, std::int64_t steps) {
  auto& phases = record.phases;
  const auto& m = record.measurement;
  if (m.data_wait_seconds && m.measured_steps > 0)
    phases.input_seconds = *m.data_wait_seconds / static_cast<double>(m.measured_steps);
  try {
    const PhaseSeconds mean = trainer.profile(steps);
    fill_profile(phases, mean, trainer.others() != nullptr);
    if (record.communication && mean.program >= 0)
      model_waiting(prepared, trainer.executor().program(mean.program).program, mean, *record.communication);
  } catch (const std::exception& error) {
    if (trainer.others()) throw;  // the others are still in the middle of it
    // The measurement stands without its profile.
    phases.forward_seconds = phases.backward_seconds = phases.update_seconds = Maybe<double>::missing(error.what());
  }
}

// 0: there is nothing to look into.
std::int64_t steps_to_profile(const LoopResult& result) {
  if (result.stop_reason == "interrupted" || result.non_finite_step) return 0;
  const bool slow = result.training_seconds > kSlowStepSeconds * static_cast<double>(result.steps.size());
  return slow ? 1 : 3;
}

void add_rates(record::Case& record, double startup_seconds) {
  add_metric(record, "startup_seconds", startup_seconds, "s", record::Better::lower, "");
  std::optional<double> flops;
  if (record.throughput.value && record.facts.model_flops_per_sample)
    flops = *record.throughput.value * static_cast<double>(*record.facts.model_flops_per_sample);
  add_metric(record, "model_flops_per_second", flops, "FLOP/s", record::Better::higher, "there is no throughput");
}

// Of the steps of this process alone: what is set up at the first one is set up again after an interruption.
double first_step_seconds(const LoopResult& result, std::size_t earlier_steps) {
  return result.steps.size() > earlier_steps ? result.steps[earlier_steps].seconds : 0;
}

// The training program that has most of the data.
const Program& usual_step(const ExecutorTrainer& trainer, Executor& executor) {
  for (const BucketPrograms& bucket : trainer.rank().programs.buckets)
    if (const int index = bucket.train >= 0 ? bucket.train : bucket.train_tail; index >= 0)
      return executor.program(index).program;
  throw Error(Fault::failed, "the case has no program for training");
}

// What the evaluations must be better than.
void fill_baselines(record::Case& record, const PreparedCase& prepared) {
  for (const auto& [name, value] : prepared.test_data->baselines(*prepared.train_data))
    record.training.baselines[name] = value;
}

// What was timed: after a change of layout only the steps of this process, which alone were taken in the present one.
LoopResult timed(const LoopResult& result, const PreparedCase& prepared, std::size_t earlier_steps) {
  LoopResult timed = result;
  if (!prepared.config.checkpoint_of.empty())
    timed.steps.erase(timed.steps.begin(), timed.steps.begin() + static_cast<std::ptrdiff_t>(earlier_steps));
  return timed;
}

// What rank 0 tells the others once the steps are done.
struct Afterwards {
  std::int64_t first_measured = 0;  // step of this process
  std::int64_t profiled = 0;        // steps
};

Afterwards agree(Communicator& others, const Afterwards& own) {
  std::istringstream words(others.broadcast(0, fmt::format("{} {}", own.first_measured, own.profiled)));
  Afterwards agreed;
  words >> agreed.first_measured >> agreed.profiled;
  return agreed;
}

record::Communication exchange_figures(const PreparedCase& prepared, ExecutorTrainer& trainer,
                                       const Afterwards& agreed) {
  record::Communication c = gather_rank_figures(trainer, agreed.first_measured);
  const Program& step = usual_step(trainer, trainer.executor());
  c.bucket_bytes = bucket_bytes(step);
  if (agreed.profiled > 0) c.all_reduces = measure_all_reduces(prepared, step, *trainer.others());
  return c;
}

// Of all ranks of this process. Also the moment when all of them are ready.
std::int64_t allocated_here(const PreparedCase& prepared, const ExecutorTrainer& trainer) {
  if (!trainer.others()) return trainer.allocated_bytes();
  const auto texts = trainer.others()->all_gather(std::to_string(trainer.allocated_bytes()));
  std::int64_t bytes = 0;
  for (const PreparedRank& rank : prepared.ranks) bytes += std::stoll(texts[static_cast<std::size_t>(rank.place.rank)]);
  return bytes;
}

// What followers know of the end without being told; for the rest they listen.
LoopPlan followers_plan(const LoopPlan& plan) {
  LoopPlan own;
  own.learning_rate = plan.learning_rate;
  own.steps_per_epoch = plan.steps_per_epoch;
  own.total_steps = last_step(plan).value_or(INT64_MAX);
  own.evaluate = plan.evaluate;
  own.stopping = plan.stopping;
  return own;
}

}  // namespace

void lead_training(record::Case& record, const PreparedCase& prepared, PreparedRank& rank, Communicator* others,
                   const TrainingContext& context, LoopResult& result) {
  MonotonicClock clock;
  const double start = clock.seconds();
  ExecutorTrainer trainer(prepared, rank, context.stop, others);
  record.memory.allocated_bytes = allocated_here(prepared, trainer);
  const double startup = clock.seconds() - start;
  std::optional<Checkpointer> checkpoints;
  if (!prepared.config.checkpoint.empty()) checkpoints.emplace(prepared, context.case_id, trainer, clock);
  if (checkpoints && context.resumed) checkpoints->go_on(checkpoint_start(prepared, context.case_id, true), result);
  const std::size_t earlier_steps = result.steps.size();
  const StopRequested stop = [&] {
    const int signal = context.stop();
    return signal == 0 && trainer.end_wished() ? SIGTERM : signal;
  };
  train_and_measure(trainer, prepared.loop, clock, stop, context.progress, result,
                    [&](const LoopResult& now) { return checkpoints && checkpoints->after_step(now); });
  if (checkpoints) checkpoints->at_end(result);
  trainer.add_late_losses(result);
  if (others) add_tokens_of_others(trainer, result);
  const LoopResult measured = timed(result, prepared, earlier_steps);
  fill_measurement(record, measured, prepared.loop, std::string(prepared.model->sample_unit));
  if (checkpoints) checkpoints->fill(record);
  add_rates(record, startup + first_step_seconds(result, earlier_steps));
  const auto not_here = static_cast<std::int64_t>(earlier_steps + measured.steps.size() - result.steps.size());
  Afterwards then{record.measurement.warmup_steps - not_here, steps_to_profile(result)};
  if (others) record.communication = exchange_figures(prepared, trainer, then = agree(*others, then));
  if (then.profiled > 0) fill_phases(record, prepared, trainer, then.profiled);
  if (others) others->barrier();  // nobody leaves while another one may still need it
  fill_training(record, result, prepared.loop);
  if (!result.evaluations.empty()) fill_baselines(record, prepared);
}

void follow_training(const PreparedCase& prepared, PreparedRank& rank, Communicator& others,
                     const TrainingContext& context, LoopResult& result) {
  MonotonicClock clock;
  ExecutorTrainer trainer(prepared, rank, context.stop, &others);
  allocated_here(prepared, trainer);
  std::optional<FollowingCheckpointer> checkpoints;
  if (!prepared.config.checkpoint.empty()) checkpoints.emplace(prepared, trainer);
  if (checkpoints && context.resumed) checkpoints->go_on(result);
  train_and_measure(
      trainer, followers_plan(prepared.loop), clock, [&] { return trainer.end_announced(); }, context.progress, result,
      [&](const LoopResult& now) { return checkpoints && checkpoints->after_step(now); });
  const auto steps = static_cast<std::int64_t>(result.steps.size());
  const bool evaluated = !result.evaluations.empty() && result.evaluations.back().after_steps == steps;
  if (trainer.end_announced() == 1 && prepared.loop.evaluate && !result.non_finite_step && !evaluated)
    trainer.evaluate();
  if (checkpoints) checkpoints->at_end(result);
  add_tokens_of_others(trainer, result);
  const Afterwards then = agree(others, {});
  exchange_figures(prepared, trainer, then);
  if (then.profiled > 0) trainer.profile(then.profiled);
  others.barrier();
}

}  // namespace gpusizer
