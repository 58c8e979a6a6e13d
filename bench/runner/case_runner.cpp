// SPDX-License-Identifier: Apache-2.0
// One case: prepare, check memory, train on one rank or several, judge.
#include "bench/runner/case_runner.hpp"

#include <fmt/format.h>

#include <csignal>
#include <new>

#include "bench/runner/run_inference.hpp"
#include "bench/machine/cpu.hpp"
#include "bench/machine/describe.hpp"
#include "bench/machine/memory.hpp"
#include "bench/runner/fill_config.hpp"
#include "bench/runner/fill_measurement.hpp"
#include "bench/runner/metrics.hpp"
#include "bench/runner/rank_team.hpp"
#include "bench/runner/training_run.hpp"
#include "reports/record/fingerprint.hpp"
#include "workloads/backend/device_memory.hpp"

namespace gpusizer {
namespace {

using record::CaseStatus;
using record::Maybe;

constexpr double kBusyShare = 0.1;  // of the machine's processor time used by others: worth a flag

// What was going on on the machine while the case ran.
class MachineLoad {
 public:
  explicit MachineLoad(const Lockstep& lockstep) : lockstep_(lockstep), run_begin_(run_seconds()) {}

  std::optional<double> others() const {
    const auto run_end = run_seconds();
    if (!run_begin_ || !run_end) return std::nullopt;
    return others_share(begin_, cpu_time(), *run_end - *run_begin_);
  }

 private:
  // The run's other processes on this machine are no strangers.
  std::optional<double> run_seconds() const {
    const auto neighbours = lockstep_.neighbours_cpu_seconds();
    return neighbours ? std::optional(own_cpu_seconds() + *neighbours) : std::nullopt;
  }

  const Lockstep& lockstep_;
  std::optional<CpuTime> begin_ = cpu_time();
  std::optional<double> run_begin_;
};

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

void set_status(record::Case& record, CaseStatus status, const std::string& reason) {
  record.status = status;
  record.reason = reason;
}

const char* signal_name(int signal) { return signal == SIGINT ? "SIGINT" : "SIGTERM"; }

void judge(record::Case& record, const LoopResult& result, int signal) {
  if (result.stop_reason == "interrupted")
    return set_status(record, CaseStatus::interrupted,
                      fmt::format("{} came after {} steps", signal_name(signal), result.steps.size()));
  if (result.skipped_steps > 0 && result.skipped_steps == static_cast<std::int64_t>(result.steps.size()))
    return set_status(record, CaseStatus::failed, record.throughput.null_reason);
  if (!record.throughput.value) return set_status(record, CaseStatus::invalid, record.throughput.null_reason);
  set_status(record, CaseStatus::ok, "");
}

// Memory that is never touched is never refused by Linux: the plan must be asked before.
void check_fit(const PreparedCase& prepared) {
  if (const auto available = available_memory_bytes()) require_memory(prepared, *available);
}

// A rehearsal that never took place must not be taken for one that was survived.
void flag_missed_fault(record::Case& record, const std::optional<FaultOptions>& fault, const LoopResult& result) {
  const auto steps = static_cast<std::int64_t>(result.steps.size());
  if (fault && fault->step > steps)
    add_flag(record, "fault_not_rehearsed", fmt::format("A fault was to be rehearsed at step {}, and the case ended after {}.",
                                                        fault->step, steps), false);
}

// What was measured before a fault stays in the record, for people; its status keeps it out of every answer.
void keep_measured(record::Case& record, const LoopResult& result, const LoopPlan& plan, const std::string& unit) {
  if (record.measurement.step_seconds.empty()) fill_measurement(record, result, plan, unit);
  fill_training(record, result, plan);
}

void train_alone(record::Case& record, PreparedCase& prepared, const CaseContext& context) {
  LoopResult result;
  const auto progress = [&](const LoopResult& now) {
    if (context.progress.step) context.progress.step(prepared.loop, now);
  };
  try {
    lead_training(record, prepared, prepared.ranks.front(), nullptr, {record.id, context.stop, progress, context.resumed},
                  result);
  } catch (...) {
    keep_measured(record, result, prepared.loop, std::string(prepared.model->sample_unit));
    throw;
  }
  judge(record, result, context.stop());
  flag_missed_fault(record, prepared.config.parallel.fault, result);
}

// Of a case that does not end by itself after a signal.
record::Case cut_short(record::Case record, const LoopResult& result, const LoopPlan& plan, const std::string& unit,
                       const std::string& why) {
  keep_measured(record, result, plan, unit);
  set_status(record, CaseStatus::interrupted, why);
  return record;
}

void train_in_ranks(record::Case& record, PreparedCase prepared, const CaseContext& context) {
  const LoopPlan plan = prepared.loop;
  const auto fault = prepared.config.parallel.fault;
  const std::string unit(prepared.model->sample_unit);
  TeamRequest request{.case_id = record.id, .record = record, .stop = context.stop, .resumed = context.resumed,
                      .lockstep = context.lockstep};
  request.progress.step = context.progress.step;
  request.progress.cut_short = [&](const LoopResult& result, const std::optional<MissingRank>& missing) {
    const std::string why = fmt::format("{} came after {} steps, and {}", signal_name(context.stop()),
                                        result.steps.size(), missing ? missing->how : "other ranks did not go on");
    if (context.save_now) context.save_now(cut_short(record, result, plan, unit, why), missing);
  };
  const TeamOutcome outcome = run_team(std::move(prepared), request);
  if (outcome.error) {
    keep_measured(record, outcome.result, plan, unit);
    std::rethrow_exception(outcome.error);
  }
  if (!context.lockstep.leads()) return;  // rank 0 has the figures
  record = outcome.record;
  judge(record, outcome.result, context.stop());
  flag_missed_fault(record, fault, outcome.result);
}

// The layout must be that of the processes.
void require_layout(const CaseConfig& config, const Lockstep& lockstep) {
  if (!lockstep.processes() || config.parallel.ranks() == lockstep.processes()->size()) return;
  const std::int64_t ranks = config.parallel.ranks();
  throw Error(Fault::usage, fmt::format("the layout has {} rank{} and {} processes were started", ranks,
                                        ranks == 1 ? "" : "s", lockstep.processes()->size()), "--parallel",
              "start as many processes as the layout has ranks");
}

void run_prepared(record::Case& record, PreparedCase& prepared, const CaseContext& context) {
  if (context.progress.prepared) context.progress.prepared(prepared);
  if (prepared.config.mode == "infer") return run_inference(record, prepared, context);
  if (prepared.config.parallel.ranks() == 1) return train_alone(record, prepared, context);
  train_in_ranks(record, std::move(prepared), context);
}

}  // namespace

PreparedCase prepare_together(const CaseConfig& config, const Lockstep& lockstep) {
  std::optional<PreparedCase> prepared;
  lockstep.together([&] {
    require_layout(config, lockstep);
    prepared = prepare_case(config, lockstep.local());
  });
  return std::move(*prepared);
}

record::Case run_case(const CaseConfig& config, const std::string& id, const CaseContext& context,
                      std::optional<PreparedCase> prepared) {
  record::Case record = skipped_case(config, id, "not started");
  record.started_utc = utc_now();
  const bool own_peak = restart_peak_resident();
  const MachineLoad load(context.lockstep);
  try {
    if (!prepared) prepared = prepare_together(config, context.lockstep);
    fill_prepared(record, *prepared);
    if (const Communicator* processes = context.lockstep.processes(); processes && record.config.parallel)
      record.config.parallel->transport = processes->kind();
    context.lockstep.together([&] { check_fit(*prepared); });
    run_prepared(record, *prepared, context);
  } catch (const OutOfMemory& error) {
    set_status(record, CaseStatus::oom, error.what());
  } catch (const OutOfDeviceMemory& error) {
    set_status(record, CaseStatus::oom, error.what());
  } catch (const std::bad_alloc&) {
    set_status(record, CaseStatus::oom, "the system gave no more memory");
  } catch (const CommunicationError& error) {
    // Processes that are lost may be started anew, and go on; a rank of this process failed by itself.
    set_status(record, context.lockstep.processes() ? CaseStatus::interrupted : CaseStatus::failed, error.what());
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
