// SPDX-License-Identifier: Apache-2.0
// Percentiles, rates, accuracies, and the flags that belong to them.
#include "bench/runner/fill_inference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "bench/serving/latencies.hpp"
#include "workloads/transforms/mixed_precision.hpp"

namespace gpusizer {
namespace {

using record::Maybe;

Maybe<double> latency(const ServingResult& result, double share) {
  const Percentile p = percentile(result.latencies, share);
  return Maybe<double>(p.seconds, p.reason);
}

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

void fill_times(record::InferenceRun& run, const ServingResult& result) {
  run.requests = static_cast<std::int64_t>(result.latencies.size());
  run.warmup_requests = result.warm_up_requests;
  run.samples = result.samples;
  run.stop_reason = result.stop_reason;
  run.p50_seconds = latency(result, 0.5);
  run.p90_seconds = latency(result, 0.9);
  run.p99_seconds = latency(result, 0.99);
  if (run.requests == 0 || !(result.elapsed_seconds > 0)) {
    const auto none = Maybe<double>::missing("no request was served");
    run.elapsed_seconds = run.samples_per_second = run.requests_per_second = run.mean_seconds = run.longest_seconds =
        none;
    run.busy_share = none;
    return;
  }
  const auto requests = static_cast<double>(run.requests);
  run.elapsed_seconds = result.elapsed_seconds;
  run.samples_per_second = static_cast<double>(result.samples) / result.elapsed_seconds;
  run.requests_per_second = requests / result.elapsed_seconds;
  run.mean_seconds = sum(result.latencies) / requests;
  run.longest_seconds = *std::ranges::max_element(result.latencies);
  run.busy_share = std::min(1.0, sum(result.busy_seconds) / result.elapsed_seconds);
}

Maybe<double> if_finite(double value, const char* otherwise) {
  return std::isfinite(value) ? Maybe<double>(value) : Maybe<double>::missing(otherwise);
}

void fill_quality(record::InferenceRun& run, const std::optional<Evaluation>& evaluation) {
  if (!evaluation || !evaluation->complete) {
    const auto none =
        Maybe<double>::missing(evaluation ? "the evaluation was interrupted" : "no evaluation was asked for");
    run.accuracy = run.loss = none;
    return;
  }
  run.loss = if_finite(evaluation->loss, "the loss was not finite");
  run.accuracy = evaluation->accuracy ? if_finite(*evaluation->accuracy, "the accuracy was not finite")
                                      : Maybe<double>::missing("this model has no right or wrong answers");
  run.evaluated_samples = evaluation->samples;
  run.outputs = evaluation->outputs;
}

void fill_form(record::InferenceRun& run, const InferenceForm& form) {
  run.name = form.name;
  run.precision = form.precision;
  run.zero_share = form.pruned ? Maybe<double>(static_cast<double>(form.pruned->zeros) /
                                               static_cast<double>(std::max<std::int64_t>(1, form.pruned->weights)))
                               : Maybe<double>::missing("not pruned");
  run.integer_share = Maybe<double>(form.integer_share, "not in integers");
  run.calibration_samples = Maybe<std::int64_t>(form.calibration_samples, "not in integers");
}

void add_run_metric(record::Case& record, const record::InferenceRun& run, const char* name, const Maybe<double>& value,
                    const std::string& unit, record::Better better) {
  record.metrics.push_back({.id = fmt::format("inference/{}/{}", run.name, name),
                            .value = value.optional(),
                            .null_reason = value ? "a single figure, no interval" : value.null_reason(),
                            .unit = unit,
                            .better = better,
                            .provenance = run.provenance});
}

void add_run_metrics(record::Case& record, const record::InferenceRun& run) {
  add_run_metric(record, run, "throughput", run.samples_per_second, record.throughput.unit, record::Better::higher);
  add_run_metric(record, run, "p50_seconds", run.p50_seconds, "s", record::Better::lower);
  add_run_metric(record, run, "p90_seconds", run.p90_seconds, "s", record::Better::lower);
  add_run_metric(record, run, "p99_seconds", run.p99_seconds, "s", record::Better::lower);
  if (run.accuracy) add_run_metric(record, run, "accuracy", run.accuracy, "1", record::Better::higher);
  if (run.loss) add_run_metric(record, run, "loss", run.loss, "1", record::Better::lower);
}

bool is_emulated(const PreparedCase& prepared, const std::string& precision_word) {
  if (precision_word == "int8") return false;
  const auto emulated = prepared.backend->target(prepared.device).emulated_dtypes;
  return std::ranges::find(emulated, element_type(precision(precision_word))) != emulated.end();
}

}  // namespace

void begin_inference(record::Case& record, const PreparedCase& prepared) {
  const CaseConfig& c = prepared.config;
  record.inference.emplace();
  if (c.weights.empty() && !trains(c))
    record.validity_flags.push_back({.id = "random_weights",
                                     .sentence = "The weights are random: times are real, answers mean nothing.",
                                     .blocks_advice = false});
}

void add_inference(record::Case& record, const PreparedCase& prepared, const ServingPlan& plan,
                   const ServedForm& served) {
  record::InferenceRun run;
  fill_form(run, served.form);
  fill_times(run, served.result);
  fill_quality(run, served.evaluation);
  run.weight_bytes = served.weight_bytes;
  run.planned_bytes = served.planned_bytes;
  if (is_emulated(prepared, run.precision)) run.provenance = record::Provenance::emulated;
  if (is_overloaded(plan, served.result))
    record.validity_flags.push_back(
        {.id = "overloaded",
         .sentence =
             fmt::format("{}: {:.4g} requests/s were offered, more than it can serve; its latencies grow with the "
                         "length of the run.",
                         run.name, *plan.rate),
         .blocks_advice = false});
  constexpr double little = 0.5;
  if (run.integer_share && *run.integer_share < little)
    record.validity_flags.push_back(
        {.id = "little_in_integers",
         .sentence =
             fmt::format("{}: {:.0f} % of the multiply-accumulates are on integers; recurrent layers, attention and "
                         "what reads the inputs stay fp32.",
                         run.name, 100 * *run.integer_share),
         .blocks_advice = false});
  add_run_metrics(record, run);
  record.inference->runs.push_back(std::move(run));
}

}  // namespace gpusizer
