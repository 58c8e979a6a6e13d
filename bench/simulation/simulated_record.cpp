// SPDX-License-Identifier: Apache-2.0
// The figures of a simulated step, each called predicted.
#include "bench/simulation/simulated_record.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "bench/runner/fill_config.hpp"
#include "bench/simulation/prediction.hpp"
#include "cloud/catalog/nearest_names.hpp"
#include "gpusizer/error.hpp"
#include "reports/sizing/goal_text.hpp"

namespace gpusizer {
namespace {

constexpr std::string_view prefix = "simulated:";
using record::Maybe;

record::Metric metric_of(const char* id, double seconds) {
  record::Metric metric;
  metric.id = id, metric.value = seconds, metric.unit = "s";
  metric.null_reason = "only the throughput has an interval";
  metric.better = record::Better::lower;
  metric.provenance = record::Provenance::predicted;
  return metric;
}

void fill_layout(record::Case& one, const SimulatedCase& from) {
  const ParallelOptions& p = from.config.parallel;
  if (p.ranks() == 1) return;
  record::Parallel r;
  r.dp = p.dp, r.pp = p.pp, r.tp = p.tp, r.ranks = p.ranks();
  r.transport = "simulated";
  r.threads_per_rank = Maybe<std::int64_t>::missing("it was simulated");
  r.stages = p.stages;
  if (p.pp > 1) r.schedule = p.schedule;
  r.micro_batches = from.config.accumulate;
  r.sharded_optimizer = p.sharded, r.recompute = p.recompute;
  one.config.parallel = r;
}

// The half width is that of 90 % in back-tests; reports give 95 %.
void fill_throughput(record::Case& one, const SimulatedCase& from) {
  record::Throughput& rate = one.throughput;
  rate.unit = fmt::format("{}/s", find_model(from.config.model).sample_unit);
  rate.provenance = record::Provenance::predicted;
  if (!from.fits()) {
    one.status = record::CaseStatus::oom;
    one.reason = rate.null_reason = fmt::format("it does not fit: it needs {:.2f} times this card", from.memory_need());
    return;
  }
  const double half = std::log(simulated_alone(1).high) * 1.96 / 1.645;
  rate.value = from.samples_per_second();
  rate.low = *rate.value * std::exp(-half), rate.high = *rate.value * std::exp(half);
  rate.null_reason.clear();
  one.metrics = {metric_of("step_seconds", from.step.seconds), metric_of("compute_seconds", from.step.compute_seconds),
                 metric_of("launch_seconds", from.step.launch_seconds),
                 metric_of("exposed_communication_seconds", from.step.exposed_seconds),
                 metric_of("communication_seconds", from.step.communication_seconds),
                 metric_of("roofline_seconds", from.step.floor_seconds)};
}

}  // namespace

record::Case record_of(const SimulatedCase& from) {
  record::Case one;
  CaseConfig config = from.config;
  config.device = "simulated";
  one.id = fmt::format("{}:{}x{}", case_id(config), from.device.name, from.devices);
  one.status = record::CaseStatus::ok;
  one.config = requested_config(config);
  one.config.device_kind = "simulated", one.config.device = from.device.name;
  one.config.devices = from.devices, one.config.replicas = config.parallel.dp;
  one.config.batch_per_replica = *config.batch;
  one.facts.parameters = from.facts.parameters;
  one.facts.forward_macs_per_sample = from.facts.forward_macs_per_sample;
  one.facts.model_flops_per_sample = from.facts.flops_per_sample;
  one.facts.gradient_bytes = from.facts.gradient_bytes;
  one.memory.planned_peak_bytes = from.planned_bytes;
  one.measurement.stop_reason = "simulated";
  fill_layout(one, from);
  fill_throughput(one, from);
  one.validity_flags.push_back({.id = "simulated", .sentence = "It did not run: a model of the device says how long it would take.",
                                .blocks_advice = true, .unknown = {}});
  return one;
}

bool names_simulated_device(const std::string& device) { return device.starts_with(prefix); }

SimulatedDevice simulated_device(const std::string& device, const cloud::Catalog& catalog) {
  const std::string text = device.substr(std::min(prefix.size(), device.size()));
  if (const cloud::Gpu* gpu = cloud::find_gpu(catalog, text)) return {gpu, 1};
  const auto cross = text.rfind('x');
  const std::string name = text.substr(0, cross);
  if (const cloud::Gpu* gpu = cloud::find_gpu(catalog, name); gpu && cross != std::string::npos)
    return {gpu, sizing::parse_count(text.substr(cross + 1), "--device")};
  std::vector<std::string> known;
  for (const cloud::Gpu& gpu : catalog.gpus) known.push_back(gpu.name);
  const auto near = cloud::nearest_names(name, known, 3);
  throw Error(Fault::usage, fmt::format("the catalogue has no GPU '{}'", name), "--device",
              near.empty() ? "write simulated:H100-SXM5x64" : fmt::format("did you mean {}?", fmt::join(near, ", ")));
}

}  // namespace gpusizer
