// SPDX-License-Identifier: Apache-2.0
// One case: prepare, check memory, compile, train and measure, profile, fill the record.
#include "bench/runner/case_runner.hpp"

#include <fmt/format.h>

#include <csignal>
#include <new>

#include "bench/runner/run_inference.hpp"
#include "bench/machine/cpu.hpp"
#include "bench/machine/describe.hpp"
#include "bench/machine/memory.hpp"
#include "bench/runner/checkpointer.hpp"
#include "bench/runner/executor_trainer.hpp"
#include "bench/runner/fill_config.hpp"
#include "bench/runner/fill_measurement.hpp"
#include "reports/record/fingerprint.hpp"

namespace gpusizer {
namespace {

using record::CaseStatus;
using record::Maybe;

constexpr double kBusyShare = 0.1;  // of the machine's processor time used by others: worth a flag
constexpr double kSlowStepSeconds = 1.0;

// What was going on on the machine while the case ran.
struct MachineLoad {
  std::optional<CpuTime> begin = cpu_time();
  double own_begin = own_cpu_seconds();

  std::optional<double> others() const { return others_share(begin, cpu_time(), own_cpu_seconds() - own_begin); }
};

void add_metric(record::Case& record, const std::string& id, std::optional<double> value, const std::string& unit,
                record::Better better, const std::string& null_reason) {
  record.metrics.push_back({.id = id, .value = value, .null_reason = value ? "a single figure, no interval" : null_reason,
                            .unit = unit, .better = better});
}

void fill_state(record::Case& record, const CaseContext& context, const MachineLoad& load) {
  const auto others = load.others();
  add_metric(record, "other_cpu_share", others, "1", record::Better::lower, "the system does not say");
  record::StringMap state;
  if (others) state["other_cpu_share"] = fmt::format("{:.2f}", *others);
  if (others && *others > kBusyShare)
    record.validity_flags.push_back({.id = "busy_machine",
                                     .sentence = fmt::format("Others used {:.0f} % of the processor time.", 100 * *others),
                                     .blocks_advice = false});
  record.fingerprint = record::make_fingerprint(record.config, context.environment, context.tool, state);
}

void fill_peak(record::Case& record, bool of_this_case) {
  record.memory.peak_rss_bytes =
      of_this_case ? Maybe<std::int64_t>(peak_resident_bytes(), "the system does not say")
                   : Maybe<std::int64_t>::missing("the system counts one peak for the whole run, which an earlier case may have set");
}

void fill_phases(record::Case& record, ExecutorTrainer& trainer, const LoopResult& result) {
  auto& phases = record.phases;
  const auto& m = record.measurement;
  if (m.data_wait_seconds && m.measured_steps > 0)
    phases.input_seconds = *m.data_wait_seconds / static_cast<double>(m.measured_steps);
  try {
    const bool slow = result.training_seconds > kSlowStepSeconds * static_cast<double>(result.steps.size());
    const PhaseSeconds mean = trainer.profile(slow ? 1 : 3);
    if (mean.steps == 0) return;
    phases.forward_seconds = mean.forward;
    phases.backward_seconds = mean.backward;
    phases.update_seconds = mean.update;
    phases.profiled_steps = mean.steps;
  } catch (const std::exception& error) {
    // The measurement stands without its profile.
    phases.forward_seconds = phases.backward_seconds = phases.update_seconds = Maybe<double>::missing(error.what());
  }
}

void set_status(record::Case& record, CaseStatus status, const std::string& reason) {
  record.status = status;
  record.reason = reason;
}

void judge(record::Case& record, const LoopResult& result, int signal) {
  if (result.stop_reason == "interrupted")
    return set_status(record, CaseStatus::interrupted,
                      fmt::format("{} came after {} steps", signal == SIGINT ? "SIGINT" : "SIGTERM", result.steps.size()));
  if (result.skipped_steps > 0 && result.skipped_steps == static_cast<std::int64_t>(result.steps.size()))
    return set_status(record, CaseStatus::failed, record.throughput.null_reason);
  if (!record.throughput.value) return set_status(record, CaseStatus::invalid, record.throughput.null_reason);
  set_status(record, CaseStatus::ok, "");
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

void train(record::Case& record, PreparedCase& prepared, const CaseContext& context, LoopResult& result) {
  MonotonicClock clock;
  const double start = clock.seconds();
  ExecutorTrainer trainer(prepared, context.stop);
  const double startup = clock.seconds() - start;
  record.memory.allocated_bytes = trainer.allocated_bytes();
  const auto progress = [&](const LoopResult& now) {
    if (context.progress.step) context.progress.step(prepared.loop, now);
  };
  std::optional<Checkpointer> checkpoints;
  if (!prepared.config.checkpoint.empty()) checkpoints.emplace(prepared, record.id, trainer, clock);
  if (checkpoints && context.resumed)
    if (const auto from = checkpoint_start(prepared, record.id, true)) checkpoints->go_on(*from, result);
  const std::size_t earlier_steps = result.steps.size();
  train_and_measure(trainer, prepared.loop, clock, context.stop, progress, result,
                    [&](const LoopResult& now) { return checkpoints && checkpoints->after_step(now); });
  if (checkpoints) checkpoints->at_end(result);
  fill_measurement(record, result, prepared.loop, std::string(prepared.model->sample_unit));
  if (checkpoints) checkpoints->fill(record);
  add_rates(record, startup + first_step_seconds(result, earlier_steps));
  if (result.stop_reason != "interrupted" && !result.non_finite_step) fill_phases(record, trainer, result);
}

// Memory that is never touched is never refused by Linux: the plan must be asked before.
void check_fit(const PreparedCase& prepared) {
  if (const auto available = available_memory_bytes()) require_memory(prepared, *available);
}

// What the evaluations must be better than.
void fill_baselines(record::Case& record, const PreparedCase& prepared) {
  for (const auto& [name, value] : prepared.test_data->baselines(*prepared.train_data))
    record.training.baselines[name] = value;
}

void run_prepared(record::Case& record, PreparedCase& prepared, const CaseContext& context) {
  fill_prepared(record, prepared);
  check_fit(prepared);
  if (context.progress.prepared) context.progress.prepared(prepared);
  if (prepared.config.mode == "infer") return run_inference(record, prepared, context);
  LoopResult result;
  try {
    train(record, prepared, context, result);
    fill_training(record, result, prepared.loop);
    if (!result.evaluations.empty()) fill_baselines(record, prepared);
    judge(record, result, context.stop());
  } catch (...) {
    // What was measured before the fault stays in the record, for people; its status keeps it out of every answer.
    if (record.measurement.step_seconds.empty())
      fill_measurement(record, result, prepared.loop, std::string(prepared.model->sample_unit));
    fill_training(record, result, prepared.loop);
    throw;
  }
}

}  // namespace

record::Case run_case(const CaseConfig& config, const std::string& id, const CaseContext& context,
                      std::optional<PreparedCase> prepared) {
  record::Case record = skipped_case(config, id, "not started");
  record.started_utc = utc_now();
  const bool own_peak = restart_peak_resident();
  const MachineLoad load;
  try {
    if (!prepared) prepared = prepare_case(config);
    run_prepared(record, *prepared, context);
  } catch (const OutOfMemory& error) {
    set_status(record, CaseStatus::oom, error.what());
  } catch (const std::bad_alloc&) {
    set_status(record, CaseStatus::oom, "the system gave no more memory");
  } catch (const std::exception& error) {
    set_status(record, CaseStatus::failed, error.what());
  }
  fill_peak(record, own_peak || context.first_case);
  fill_state(record, context, load);
  return record;
}

record::Case skipped_case(const CaseConfig& config, const std::string& id, const std::string& reason) {
  record::Case record;
  record.id = id;
  record.config = requested_config(config);
  set_status(record, CaseStatus::skipped, reason);
  record.throughput.null_reason = reason;
  auto& phases = record.phases;
  phases.input_seconds = phases.forward_seconds = phases.backward_seconds = phases.update_seconds =
      Maybe<double>::missing("no step was profiled");
  phases.profiled_steps = Maybe<std::int64_t>::missing("no step was profiled");
  return record;
}

}  // namespace gpusizer
