// SPDX-License-Identifier: Apache-2.0
// The rules of a report, one function per part.
#include "reports/record/check.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include "reports/record/check_ranks.hpp"
#include "reports/record/checks.hpp"

namespace gpusizer::record {
namespace {

// "2026-01-31T12:00:00Z", with or without a fraction of the second.
bool is_utc_time(std::string_view text) {
  static constexpr std::string_view shape = "dddd-dd-ddTdd:dd:dd";
  if (text.size() < shape.size() + 1 || text.back() != 'Z') return false;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const bool digit = std::isdigit(static_cast<unsigned char>(text[i]));
    if (shape[i] == 'd' ? !digit : text[i] != shape[i]) return false;
  }
  const std::string_view fraction = text.substr(shape.size(), text.size() - shape.size() - 1);
  return fraction.empty() || (fraction[0] == '.' && fraction.size() > 1 &&
                              std::all_of(fraction.begin() + 1, fraction.end(),
                                          [](unsigned char c) { return std::isdigit(c); }));
}

bool is_hexadecimal(std::string_view text, std::size_t digits) {
  return text.size() == digits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

void check_interval(const Checks& checks, const std::optional<double>& value, const std::optional<double>& low,
                    const std::optional<double>& high) {
  const auto finite = [](const std::optional<double>& number) { return !number || std::isfinite(*number); };
  checks.require(finite(value), "value", "is not a finite number");
  checks.require(finite(low), "low", "is not a finite number");
  checks.require(finite(high), "high", "is not a finite number");
  checks.require(!value || !low || !(*low > *value), "low", "is above the value");
  checks.require(!value || !high || !(*high < *value), "high", "is below the value");
  checks.require(value || !low || !high || !(*low > *high), "low", "is above high");
}

void check_metrics(const Checks& checks, const std::vector<Metric>& metrics) {
  std::set<std::string> ids;
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    const Metric& metric = metrics[i];
    const Checks here = checks.at("metrics", i);
    here.require(!metric.id.empty(), "id", "is empty");
    here.require(ids.insert(metric.id).second, "id", "is given to two metrics of one case");
    check_interval(here, metric.value, metric.low, metric.high);
    here.require((metric.value && metric.low && metric.high) || !metric.null_reason.empty(), "null_reason",
                 "must say why value, low or high is missing");
    for (std::size_t s = 0; s < metric.samples.size(); ++s)
      here.at("samples").require(std::isfinite(metric.samples[s]), std::to_string(s), "is not a finite number");
  }
}

// Only executed work counts: the figure must follow from the samples and the time that are recorded with it.
void check_throughput(const Checks& checks, const Case& run) {
  const Throughput& figure = run.throughput;
  check_interval(checks, figure.value, figure.low, figure.high);
  checks.require((figure.value && figure.low && figure.high) || !figure.null_reason.empty(), "null_reason",
                 "must say why value, low or high is missing");
  checks.require(!figure.low || !(*figure.low < 0), "low", "is negative");
  if (!figure.value) return;
  checks.require(*figure.value > 0, "value", "is not above 0; a missing throughput is null with a reason");
  if (figure.provenance != Provenance::measured) return;
  const auto& seconds = run.measurement.measured_seconds;
  checks.require(run.measurement.samples > 0 && seconds && *seconds > 0, "value",
                 "is called measured, but no measured samples and seconds are recorded");
  if (run.measurement.samples <= 0 || !seconds || !(*seconds > 0)) return;
  const double devices = figure.scope == Scope::per_device ? static_cast<double>(run.config.devices) : 1.0;
  const double counted = static_cast<double>(run.measurement.samples) / *seconds / devices;
  checks.require(std::abs(*figure.value - counted) <= 1e-6 * counted, "value",
                 "is not the recorded samples divided by the recorded seconds (" + std::to_string(counted) + ")");
}

// No step trains more samples than its batches hold.
void check_samples(const Checks& checks, const Measurement& m, const Config& config) {
  const double most = static_cast<double>(m.measured_steps) * static_cast<double>(config.batch_per_replica) *
                      static_cast<double>(config.replicas);
  checks.require(!(static_cast<double>(m.samples) > most), "samples",
                 "is above measured_steps x batch_per_replica x replicas");
}

// Where every step time is in the report, the measured time is their sum without the warm-up.
void check_measured_seconds(const Checks& checks, const Measurement& m) {
  if (!m.measured_seconds || m.step_seconds.empty() || m.warmup_steps < 0) return;
  const auto warmup = static_cast<std::size_t>(m.warmup_steps);
  if (warmup > m.step_seconds.size()) return;  // check_steps says so
  const double sum = std::accumulate(m.step_seconds.begin() + m.warmup_steps, m.step_seconds.end(), 0.0);
  checks.require(std::abs(*m.measured_seconds - sum) <= 1e-6 * sum, "measured_seconds",
                 "is not the sum of the step times after the warm-up (" + std::to_string(sum) + ")");
}

// The recorded steps are all there: inline, or as block means that stand for a series file.
void check_steps(const Checks& checks, const Measurement& m) {
  const auto count = [](const std::vector<double>& values) { return static_cast<std::int64_t>(values.size()); };
  checks.require(m.step_seconds.empty() || m.block_mean_seconds.empty(), "block_mean_seconds",
                 "is given beside step_seconds; only one of the two may be");
  checks.require(m.block_mean_seconds.empty() || m.series_file, "series_file",
                 "is missing, but block_mean_seconds stands for a longer series");
  checks.require(m.block_steps >= 1, "block_steps", "is below 1");
  if (m.series_file && m.step_seconds.empty() && m.block_steps >= 1)
    checks.require(count(m.block_mean_seconds) == (m.series_file->steps - 1) / m.block_steps + 1, "block_mean_seconds",
                   "does not have one value per block_steps steps of the series file");
  const std::int64_t steps = m.series_file ? m.series_file->steps : count(m.step_seconds);
  const std::int64_t skipped = m.skipped ? m.skipped->steps : 0;
  checks.require(skipped >= 0, "skipped/steps", "is below 0");
  checks.require(m.warmup_steps >= 0 && m.warmup_steps <= steps && m.measured_steps + skipped == steps - m.warmup_steps,
                 "measured_steps", "and warmup_steps together are not the number of recorded step times");
  checks.require(m.tail_steps <= m.measured_steps, "tail_steps", "is above measured_steps");
  for (const auto* series : {&m.step_seconds, &m.block_mean_seconds})
    for (std::size_t i = 0; i < series->size(); ++i)
      if (!((*series)[i] > 0) || !std::isfinite((*series)[i]))
        checks.at(series == &m.step_seconds ? "step_seconds" : "block_mean_seconds")
            .require(false, std::to_string(i), "is not a time above 0");
}

void check_tokens(const Checks& checks, const Measurement& m) {
  if (!m.tokens) return;
  const Tokens& tokens = *m.tokens;
  checks.not_negative(static_cast<double>(tokens.real_tokens), "real_tokens");
  checks.not_negative(static_cast<double>(tokens.padded_tokens), "padded_tokens");
  checks.not_negative(tokens.tokens_per_second, "tokens_per_second");
  if (!tokens.tokens_per_second || !m.measured_seconds || !(*m.measured_seconds > 0)) return;
  const double counted = static_cast<double>(tokens.real_tokens) / *m.measured_seconds;
  checks.require(std::abs(*tokens.tokens_per_second - counted) <= 1e-6 * counted, "tokens_per_second",
                 "is not the recorded tokens divided by the recorded seconds (" + std::to_string(counted) + ")");
}

void check_measurement(const Checks& checks, const Measurement& m, const Config& config) {
  if (m.series_file) {
    const Checks file = checks.at("series_file");
    file.require(m.series_file->steps >= 1, "steps", "is below 1");
    file.require(is_hexadecimal(m.series_file->sha256, 64), "sha256", "is not 64 hexadecimal digits");
    file.require(m.series_file->bytes >= 1, "bytes", "is below 1");
  }
  checks.not_negative(static_cast<double>(m.warmup_steps), "warmup_steps");
  checks.not_negative(static_cast<double>(m.measured_steps), "measured_steps");
  checks.not_negative(static_cast<double>(m.tail_steps), "tail_steps");
  checks.not_negative(static_cast<double>(m.samples), "samples");
  check_samples(checks, m, config);
  check_steps(checks, m);
  check_measured_seconds(checks, m);
  check_tokens(checks.at("tokens"), m);
  checks.not_negative(m.measured_seconds, "measured_seconds");
  checks.not_negative(m.mean_step_seconds, "mean_step_seconds");
  checks.not_negative(m.p50_step_seconds, "p50_step_seconds");
  checks.not_negative(m.p95_step_seconds, "p95_step_seconds");
  checks.not_negative(m.sd_step_seconds, "sd_step_seconds");
  checks.not_negative(m.half_width_relative, "half_width_relative");
  checks.not_negative(m.target_half_width_relative, "target_half_width_relative");
  checks.not_negative(m.stall_steps, "stall_steps");
  checks.share(m.stall_rate, "stall_rate");
  checks.not_negative(m.stall_rate_upper, "stall_rate_upper");  // a Poisson limit: may pass 1 for very few steps
  checks.not_negative(m.data_wait_seconds, "data_wait_seconds");
}

void check_config(const Checks& checks, const Config& config) {
  checks.require(!config.model.empty(), "model", "is empty");
  checks.require(config.devices >= 1, "devices", "is below 1");
  checks.require(config.replicas >= 1 && config.replicas <= config.devices, "replicas",
                 "is not between 1 and the number of devices");
  checks.require(config.batch_per_replica >= 1, "batch_per_replica", "is below 1");
  checks.require(!config.threads || *config.threads >= 1, "threads", "is below 1");
  checks.not_negative(config.dataset_samples, "dataset_samples");
  checks.not_negative(config.learning_rate, "learning_rate");
  checks.not_negative(config.momentum, "momentum");
  checks.not_negative(config.weight_decay, "weight_decay");
  checks.not_negative(config.requested_epochs, "requested_epochs");
  checks.share(config.target_accuracy, "target_accuracy");
  checks.not_negative(config.max_seconds, "max_seconds");
  checks.not_negative(config.max_steps, "max_steps");
}

void check_training(const Checks& checks, const Training& training) {
  for (std::size_t i = 0; i < training.loss_curve.size(); ++i)
    checks.at("loss_curve", i).require(training.loss_curve[i].step >= 1, "step", "is below 1");
  for (std::size_t i = 0; i < training.evaluations.size(); ++i) {
    const Checks here = checks.at("evaluations", i);
    here.not_negative(training.evaluations[i].epochs, "epochs");
    here.share(training.evaluations[i].accuracy, "accuracy");
    here.not_negative(static_cast<double>(training.evaluations[i].samples), "samples");
    here.not_negative(training.evaluations[i].training_seconds, "training_seconds");
  }
  checks.share(training.accuracy, "accuracy");
  checks.not_negative(training.epochs, "epochs");
  checks.not_negative(training.time_to_target_seconds, "time_to_target_seconds");
  checks.not_negative(training.non_finite_step, "non_finite_step");
}

void check_resources(const Checks& checks, const Case& run) {
  const Checks facts = checks.at("facts"), memory = checks.at("memory"), phases = checks.at("phases");
  facts.not_negative(run.facts.parameters, "parameters");
  facts.not_negative(run.facts.forward_macs_per_sample, "forward_macs_per_sample");
  facts.not_negative(run.facts.model_flops_per_sample, "model_flops_per_sample");
  facts.not_negative(run.facts.gradient_bytes, "gradient_bytes");
  memory.not_negative(run.memory.planned_peak_bytes, "planned_peak_bytes");
  memory.not_negative(run.memory.allocated_bytes, "allocated_bytes");
  memory.not_negative(run.memory.peak_rss_bytes, "peak_rss_bytes");
  phases.not_negative(run.phases.input_seconds, "input_seconds");
  phases.not_negative(run.phases.forward_seconds, "forward_seconds");
  phases.not_negative(run.phases.backward_seconds, "backward_seconds");
  phases.not_negative(run.phases.update_seconds, "update_seconds");
  if (run.phases.communicate_seconds) phases.not_negative(*run.phases.communicate_seconds, "communicate_seconds");
  phases.not_negative(run.phases.profiled_steps, "profiled_steps");
}

// A case that was not started may be without.
void check_fingerprint(const Checks& checks, const Fingerprint& fingerprint) {
  const auto is_hash = [](const std::string& text) { return text.empty() || is_hexadecimal(text, 16); };
  checks.require(is_hash(fingerprint.identity_hash), "identity_hash", "is not 16 hexadecimal digits");
  checks.require(is_hash(fingerprint.environment_hash), "environment_hash", "is not 16 hexadecimal digits");
}

void check_checkpoints(const Checks& checks, const std::optional<Checkpoints>& written) {
  if (!written) return;
  checks.not_negative(static_cast<double>(written->count), "count");
  checks.not_negative(written->bytes, "bytes");
  checks.not_negative(written->mean_seconds, "mean_seconds");
  checks.not_negative(written->last_seconds, "last_seconds");
  checks.not_negative(written->resumed_at_step, "resumed_at_step");
}

// Rates follow from what was served, percentiles rise.
void check_run(const Checks& checks, const InferenceRun& run) {
  checks.require(!run.name.empty(), "name", "is empty");
  const std::pair<std::int64_t, const char*> counts[] = {
      {run.requests, "requests"}, {run.warmup_requests, "warmup_requests"}, {run.samples, "samples"},
      {run.evaluated_samples, "evaluated_samples"}, {run.weight_bytes, "weight_bytes"},
      {run.planned_bytes, "planned_bytes"}};
  for (const auto& [count, name] : counts) checks.not_negative(static_cast<double>(count), name);
  const std::pair<const Maybe<double>&, const char*> times[] = {{run.p50_seconds, "p50_seconds"},
                                                                {run.p90_seconds, "p90_seconds"},
                                                                {run.p99_seconds, "p99_seconds"},
                                                                {run.longest_seconds, "longest_seconds"}};
  double last = 0;
  for (const auto& [time, name] : times) {
    checks.not_negative(time, name);
    checks.require(!time || *time >= last, name, "is below a smaller percentile");
    if (time) last = *time;
  }
  checks.share(run.busy_share, "busy_share");
  checks.share(run.accuracy, "accuracy");
  checks.share(run.zero_share, "zero_share");
  checks.share(run.integer_share, "integer_share");
  checks.not_negative(run.elapsed_seconds, "elapsed_seconds");
  if (!run.samples_per_second || !run.elapsed_seconds || !(*run.elapsed_seconds > 0)) return;
  const double counted = static_cast<double>(run.samples) / *run.elapsed_seconds;
  checks.require(std::abs(*run.samples_per_second - counted) <= 1e-6 * counted, "samples_per_second",
                 "is not the recorded samples divided by the recorded seconds (" + std::to_string(counted) + ")");
}

void check_inference(const Checks& checks, const Case& run) {
  if (run.config.inference) {
    const Checks asked = checks.at("config").at("inference");
    asked.not_negative(run.config.inference->offered_requests_per_second, "offered_requests_per_second");
    asked.share(run.config.inference->pruned_share, "pruned_share");
  }
  if (!run.inference) return;
  for (std::size_t i = 0; i < run.inference->runs.size(); ++i)
    check_run(checks.at("inference").at("runs", i), run.inference->runs[i]);
}

void check_case(const Checks& checks, const Case& run) {
  checks.require(run.status == CaseStatus::ok || !run.reason.empty(), "reason",
                 "is empty, but a case that is not ok says why");
  checks.require(run.started_utc.empty() || is_utc_time(run.started_utc), "started_utc",
                 "is not a time like 2026-01-31T12:00:00Z");
  check_config(checks.at("config"), run.config);
  check_measurement(checks.at("measurement"), run.measurement, run.config);
  check_throughput(checks.at("throughput"), run);
  check_resources(checks, run);
  check_checkpoints(checks.at("checkpoints"), run.checkpoints);
  check_inference(checks, run);
  check_ranks(checks, run);
  check_training(checks.at("training"), run.training);
  check_metrics(checks, run.metrics);
  check_fingerprint(checks.at("fingerprint"), run.fingerprint);
  for (std::size_t i = 0; i < run.validity_flags.size(); ++i)
    checks.at("validity_flags", i).require(!run.validity_flags[i].id.empty(), "id", "is empty");
}

void check_environment(const Checks& checks, const Environment& environment) {
  checks.not_negative(environment.cpu_cores, "cpu_cores");
  checks.not_negative(environment.cpu_threads, "cpu_threads");
  checks.not_negative(environment.memory_bytes, "memory_bytes");
  for (std::size_t i = 0; i < environment.devices.size(); ++i)
    checks.at("devices", i).not_negative(environment.devices[i].memory_bytes, "memory_bytes");
}

}  // namespace

std::vector<Problem> check_report(const Report& report) {
  std::vector<Problem> problems;
  const Checks checks(problems, "");
  checks.require(report.schema == schema_name, "schema", std::string("is not ") + schema_name);
  checks.require(is_utc_time(report.created_utc), "created_utc", "is not a time like 2026-01-31T12:00:00Z");
  check_environment(checks.at("environment"), report.environment);
  std::set<std::string> ids;
  for (std::size_t i = 0; i < report.cases.size(); ++i) {
    const Checks here = checks.at("cases", i);
    here.require(!report.cases[i].id.empty(), "id", "is empty");
    here.require(ids.insert(report.cases[i].id).second, "id", "is given to two cases");
    check_case(here, report.cases[i]);
  }
  return problems;
}

}  // namespace gpusizer::record
