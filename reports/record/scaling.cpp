// SPDX-License-Identifier: Apache-2.0
// Pairs cases that differ only in their layout, and divides their throughputs.
#include "reports/record/scaling.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gpusizer::record {
namespace {

std::string kind_of(const Case& run) { return run.config.parallel ? run.config.parallel->scaling : "weak"; }

std::int64_t job_batch(const Case& run) { return run.config.batch_per_replica * run.config.replicas; }

Maybe<std::int64_t> threads_per_rank(const Case& run) {
  return run.config.parallel ? run.config.parallel->threads_per_rank : run.config.threads;
}

bool same_batch(const Case& run, const Case& baseline) {
  return kind_of(run) == "strong" ? job_batch(run) == job_batch(baseline)
                                  : run.config.batch_per_replica == baseline.config.batch_per_replica;
}

// Replicas that do not wait for each other's gradients train another way than those that do.
bool same_training(const Case& run, const Case& baseline) {
  const auto staleness = [](const Case& one) {
    return one.config.parallel && one.config.parallel->mode == "async" ? one.config.parallel->staleness : -1;
  };
  return staleness(run) == staleness(baseline);
}

// All that decides how much work a sample is and what does it, but for the layout and what follows from it.
bool same_workload(const Case& run, const Case& baseline) {
  const Config &a = run.config, &b = baseline.config;
  return a.model == b.model && a.model_options == b.model_options && a.data == b.data &&
         a.data_options == b.data_options && a.device_kind == b.device_kind && a.device == b.device &&
         a.precision == b.precision && a.optimizer == b.optimizer && a.inference.has_value() == b.inference.has_value() &&
         run.throughput.unit == baseline.throughput.unit && same_batch(run, baseline) && same_training(run, baseline);
}

// Among baselines of the same number of ranks: the one that is most like the case in the rest.
int likeness(const Case& run, const Case& baseline) {
  const Parallel none;
  const Parallel& a = run.config.parallel ? *run.config.parallel : none;
  const Parallel& b = baseline.config.parallel ? *baseline.config.parallel : none;
  return (threads_per_rank(run) == threads_per_rank(baseline) ? 4 : 0) + (a.recompute == b.recompute ? 2 : 0) +
         (a.norm_group == b.norm_group ? 1 : 0);
}

bool has_figure(const Case& run) { return run.status == CaseStatus::ok && run.throughput.value.has_value(); }

const Case* baseline_of(const Report& report, const Case& run) {
  const Case* best = nullptr;
  for (const Case& other : report.cases) {
    if (!has_figure(other) || !same_workload(run, other) || other.config.devices > run.config.devices) continue;
    if (!best || other.config.devices < best->config.devices ||
        (other.config.devices == best->config.devices && likeness(run, other) > likeness(run, *best)))
      best = &other;
  }
  return best;
}

// How far a bound is from its value, as the logarithm of their quotient; endless for a bound at 0.
double distance(double value, double bound) {
  return bound > 0 ? std::abs(std::log(bound / value)) : std::numeric_limits<double>::infinity();
}

// Of the quotient of two independent means. Their relative errors add as squares, most nearly so on the scale of
// logarithms, where the quotient is a difference.
std::optional<Ratio> quotient(const Throughput& over, const Throughput& under) {
  if (!over.low || !over.high || !under.low || !under.high) return std::nullopt;
  const double value = *over.value / *under.value;
  const double down = std::hypot(distance(*over.value, *over.low), distance(*under.value, *under.high));
  const double up = std::hypot(distance(*over.value, *over.high), distance(*under.value, *under.low));
  if (!std::isfinite(up)) return std::nullopt;
  return Ratio{.value = value, .low = value * std::exp(-down), .high = value * std::exp(up), .unknown = {}};
}

Ratio times(Ratio ratio, double factor) {
  for (double* const number : {&ratio.value, &ratio.low, &ratio.high}) *number *= factor;
  return ratio;
}

Scaling against(const Case& run, const Case& baseline) {
  Scaling scaling{.kind = kind_of(run), .baseline_case = baseline.id, .baseline_ranks = baseline.config.devices,
                  .speedup = {}, .efficiency = {}, .null_reason = "", .unknown = {}};
  if (run.throughput.provenance != baseline.throughput.provenance && !(run.config.parallel && run.config.parallel->wire)) {
    scaling.null_reason = "the figures come from different sources";
    return scaling;
  }
  scaling.speedup = quotient(run.throughput, baseline.throughput);
  if (!scaling.speedup) {
    scaling.null_reason = "a throughput has no interval";
    return scaling;
  }
  if (threads_per_rank(run) != threads_per_rank(baseline)) {
    scaling.null_reason = "no efficiency: the ranks have other numbers of threads than the baseline's";
    return scaling;
  }
  scaling.efficiency = times(*scaling.speedup, static_cast<double>(baseline.config.devices) /
                                                   static_cast<double>(run.config.devices));
  return scaling;
}

}  // namespace

void fill_scaling(Report& report) {
  for (Case& run : report.cases) run.scaling.reset();
  for (Case& run : report.cases) {
    if (run.config.devices <= 1 || !has_figure(run)) continue;
    const Case* const baseline = baseline_of(report, run);
    if (baseline == nullptr || baseline == &run) continue;
    run.scaling = against(run, *baseline);
  }
}

}  // namespace gpusizer::record
