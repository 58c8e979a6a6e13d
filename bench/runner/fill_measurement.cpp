// SPDX-License-Identifier: Apache-2.0
// Step times -> figures with intervals and reasons.
#include "bench/runner/fill_measurement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "bench/runner/metrics.hpp"
#include "bench/stopping/groups.hpp"
#include "bench/stopping/mean_shift.hpp"
#include "reports/record/statistics.hpp"

namespace gpusizer {
namespace {

using record::Maybe;
using record::Metric;

// Those of several buckets on one level.
std::vector<double> full_step_seconds(const LoopResult& result) {
  std::vector<double> seconds;
  std::vector<std::int64_t> buckets;
  for (const ExecutedStep& step : result.steps) {
    if (step.tail) continue;
    seconds.push_back(step.seconds);
    buckets.push_back(step.bucket);
  }
  return level_groups(seconds, buckets);
}

// The place in the whole series that follows its first `full_steps` full steps.
std::int64_t cut_in_series(const LoopResult& result, std::int64_t full_steps) {
  std::int64_t place = 0;
  for (const ExecutedStep& step : result.steps) {
    if (full_steps == 0) break;
    full_steps -= step.tail ? 0 : 1;
    ++place;
  }
  return place;
}

void fill_window(record::Measurement& m, const LoopResult& result, std::int64_t cut) {
  for (const ExecutedStep& step : result.steps) m.step_seconds.push_back(step.seconds);
  const AuditedWork work = audit(std::span(result.steps).subspan(static_cast<std::size_t>(cut)));
  m.warmup_steps = cut;
  m.measured_steps = work.steps;
  if (work.skipped_steps > 0) m.skipped = {.steps = work.skipped_steps};
  m.tail_steps = work.tail_steps;
  m.samples = work.samples;
  if (work.real_tokens > 0) m.tokens = {.real_tokens = work.real_tokens, .padded_tokens = work.padded_tokens};
  if (work.steps + work.skipped_steps == 0) {
    m.measured_seconds = Maybe<double>::missing("no step was measured");
    m.data_wait_seconds = Maybe<double>::missing("no step was measured");
    return;
  }
  m.measured_seconds = work.seconds;
  m.data_wait_seconds = work.data_wait_seconds;
  if (m.tokens) m.tokens->tokens_per_second = static_cast<double>(work.real_tokens) / work.seconds;
}

void fill_certainty(record::Measurement& m, const SteadyState& state, const LoopPlan& plan) {
  m.target_half_width_relative = plan.stopping.precision_target;
  m.half_width_relative = Maybe<double>(state.relative_half_width(), state.reason);
  if (state.stalls.steps == 0) {
    m.stall_steps = Maybe<std::int64_t>::missing("no step was measured");
    m.stall_rate = m.stall_rate_upper = Maybe<double>::missing("no step was measured");
    return;
  }
  m.stall_steps = state.stalls.stalls;
  m.stall_rate = state.stalls.rate;
  m.stall_rate_upper = state.stalls.high;
}

std::string why_no_throughput(const LoopResult& result, const SteadyState& state, const record::Measurement& m) {
  if (result.stop_reason == "no_steady_state") return "the step times never settled: there is no steady state to report";
  if (result.non_finite_step) return fmt::format("the loss was not finite at step {}", *result.non_finite_step);
  if (result.skipped_steps > 0 && result.skipped_steps == static_cast<std::int64_t>(result.steps.size()))
    return "every step was skipped: a gradient overflowed each time";
  if (m.measured_steps == 0 || !(*m.measured_seconds > 0)) return state.reason.empty() ? "no step was measured" : state.reason;
  return "";
}

// The value counts what was executed; its interval is that of the mean full step, as a share.
void fill_throughput(record::Case& record, const LoopResult& result, const SteadyState& state) {
  auto& t = record.throughput;
  const auto& m = record.measurement;
  t.null_reason = why_no_throughput(result, state, m);
  if (!t.null_reason.empty()) return;
  t.value = static_cast<double>(m.samples) / *m.measured_seconds;
  if (!state.mean_step) {
    t.null_reason = state.reason;
    return;
  }
  t.low = *t.value * state.mean_step->seconds / state.mean_step->high;
  if (state.mean_step->low > 0)
    t.high = *t.value * state.mean_step->seconds / state.mean_step->low;
  else
    t.null_reason = "so few steps give no upper limit";
}

void add_metrics(record::Case& record, const SteadyState& state) {
  const auto& t = record.throughput;
  record.metrics.push_back({.id = "throughput", .value = t.value, .low = t.low, .high = t.high,
                            .null_reason = t.null_reason, .unit = t.unit});
  Metric step{.id = "step_seconds", .unit = "s", .better = record::Better::lower};
  if (state.mean_step && t.value) {
    step.value = state.mean_step->seconds;
    step.high = state.mean_step->high;
    if (state.mean_step->low > 0) step.low = state.mean_step->low;
    if (!step.low) step.null_reason = "so few steps give no lower limit";
  } else {
    step.null_reason = t.null_reason;
  }
  record.metrics.push_back(step);
}

// The half width that reports print: of the throughput, everything included. Nothing without both limits.
std::optional<double> printed_half_width(const record::Throughput& t) {
  if (!t.value || !t.low || !t.high) return std::nullopt;
  return std::max(*t.high - *t.value, *t.value - *t.low) / *t.value;
}

std::string known_to(const record::Throughput& t) {
  const auto half = printed_half_width(t);
  return half ? fmt::format("known to {:.1f} %", 100 * *half) : "not known from above";
}

// The target is one for the steps that are no stalls: more steps make rare stalls hardly better known.
void flag_precision(record::Case& record, const SteadyState& state, double target) {
  const auto reached = state.relative_half_width();
  if (!reached) return add_flag(record, "no_interval", fmt::format("There is no interval: {}.", state.reason), false);
  if (!record.throughput.value) return;
  if (*reached > target)
    return add_flag(record, "precision_not_reached", fmt::format("The throughput is {}; the target was {:.1f} %.",
                                                             known_to(record.throughput), 100 * target), false);
  const MeanStep& mean = *state.mean_step;
  if (std::max(mean.high - mean.seconds, mean.seconds - mean.low) <= target * mean.seconds || state.stalls.stalls == 0) return;
  add_flag(record, "stalls", fmt::format("Stalls: {} of {} steps; the mean including them is {}.", state.stalls.stalls,
                                     state.stalls.steps, known_to(record.throughput)), false);
}

void flag_doubts(record::Case& record, const LoopResult& result, const SteadyState& state, const LoopPlan& plan) {
  if (result.non_finite_step)
    add_flag(record, "non_finite_loss", fmt::format("The loss was not finite at step {}.", *result.non_finite_step), true);
  if (result.skipped_steps > 0)
    add_flag(record, "skipped_steps", fmt::format("{} of {} steps were skipped, since a gradient overflowed; they are not counted.",
                                              result.skipped_steps, result.steps.size()), false);
  if (result.stop_reason == "no_steady_state") add_flag(record, "no_steady_state", "The step times never settled.", true);
  else if (state.warm_up.at_limit)
    add_flag(record, "warm_up_uncertain", "The step times may not have settled: half of them look like warm-up.", false);
  if (!state.warm_up.judged)
    add_flag(record, "short_run", fmt::format("With {} full steps only a warm-up of {} was cut, unexamined.", state.steps_seen,
                                          state.steps_discarded), false);
  flag_precision(record, state, plan.stopping.precision_target);
}

void flag_shift(record::Case& record, std::span<const double> measured) {
  const auto shift = find_mean_shift(measured, 0.02);
  if (!shift) return;
  add_flag(record, "pace_changed", fmt::format("The mean step changed from {:.4g} s to {:.4g} s after {} measured steps.",
                                           shift->before_mean, shift->after_mean, shift->at), false);
}

}  // namespace

void fill_measurement(record::Case& record, const LoopResult& result, const LoopPlan& plan, const std::string& sample_unit) {
  const auto full = full_step_seconds(result);
  const SteadyState state = find_steady_state(full, plan.stopping.fixed_warm_up);
  fill_window(record.measurement, result, cut_in_series(result, state.steps_discarded));
  fill_certainty(record.measurement, state, plan);
  record.measurement.stop_reason = result.stop_reason;
  record::fill_step_summary(record.measurement);
  record.throughput.unit = sample_unit + "/s";
  fill_throughput(record, result, state);
  add_metrics(record, state);
  flag_doubts(record, result, state, plan);
  flag_shift(record, std::span(full).subspan(static_cast<std::size_t>(state.steps_discarded)));
}

}  // namespace gpusizer
