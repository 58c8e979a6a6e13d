// SPDX-License-Identifier: Apache-2.0
// From reports to usable cases and cases set aside.
#include "reports/sizing/evidence.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "reports/sizing/hardware.hpp"
#include "reports/sizing/usable.hpp"

namespace gpusizer::sizing {
namespace {

// Replicas that do not wait for each other learn otherwise than those that do: their samples are not the same samples.
std::string optimizer_of(const record::Config& config) {
  if (config.parallel && config.parallel->mode == "async")
    return fmt::format("{}, asynchronous, staleness {}", config.optimizer, config.parallel->staleness);
  return config.optimizer;
}

Workload workload_of(const record::Case& one) {
  Workload workload{one.config.model,        one.config.model_options, one.config.data,
                    one.config.data_options, optimizer_of(one.config), one.throughput.unit};
  workload.data_options.erase("path");
  return workload;
}

Variant variant_of(const record::Case& one) {
  Variant variant{one.config.precision, one.config.batch_per_replica, one.config.replicas, 0};
  // Threads are a choice only where the CPU computes.
  if (one.config.device_kind == "cpu" && one.config.threads) variant.threads = *one.config.threads;
  return variant;
}

// Of the whole job, whatever scope the report uses.
Interval rate_of(const record::Case& one) {
  const record::Throughput& rate = one.throughput;
  const double devices = rate.scope == record::Scope::job ? 1.0 : static_cast<double>(one.config.devices);
  Interval interval{*rate.value * devices, std::nullopt, std::nullopt};
  if (rate.low) interval.low = *rate.low * devices;
  if (rate.high) interval.high = *rate.high * devices;
  return interval;
}

std::vector<std::string> warnings_of(const record::Case& one, const HardwareMatch& match) {
  std::vector<std::string> warnings = match.warnings;
  for (const record::ValidityFlag& flag : one.validity_flags)
    if (!flag.blocks_advice) warnings.push_back(flag.sentence.empty() ? flag.id : flag.sentence);
  if (!one.throughput.low || !one.throughput.high) warnings.push_back("the interval of the throughput is not known");
  return warnings;
}

constexpr double longest_seconds = 1e15;  // 30 million years; far below where times and costs overflow

// Why time and cost of the goal at this throughput are no numbers to show, or "".
std::string why_beyond_counting(const record::Case& one, const Goal& goal) {
  const double rate = rate_of(one).value;
  const double seconds = static_cast<double>(goal.dataset_samples) * static_cast<double>(goal.epochs) / rate;
  if (std::isfinite(rate) && seconds <= longest_seconds) return "";
  return fmt::format("its throughput of {} {} {}", *one.throughput.value, one.throughput.unit,
                     std::isfinite(rate) ? "would take more than 1e15 seconds for the goal" : "is too large to count with");
}

// What tells one measurement from another, wherever the report's copies lie; with the report that was read first.
using Seen = std::map<std::tuple<std::string, std::string, std::string, std::string, double>, std::string>;

// Why a case counts already, or "" and it is remembered. A copy would look like a second, agreeing measurement.
std::string why_counted_already(Seen& seen, const ReportInput& input, const record::Case& one) {
  const record::Report& report = input.report;
  const auto [place, is_new] = seen.try_emplace(
      {report.created_utc, report.environment.host_name, one.id, one.started_utc, *one.throughput.value}, input.name);
  return is_new ? "" : fmt::format("counted already: the same measurement is in {}", place->second);
}

void gather_case(Gathered& gathered, Seen& seen, const ReportInput& input, const record::Case& one,
                 const StatedInstance& stated, const cloud::Catalog& catalog, const Goal& goal) {
  const CaseReference reference{input.name, one.id, one.started_utc, input.report.environment.host_name};
  std::string reason = why_not_usable(input.report, one);
  if (reason.empty()) reason = why_beyond_counting(one, goal);
  HardwareMatch match;
  if (reason.empty()) {
    match = match_hardware(input.report, one, stated, catalog);
    reason = match.problem;
  }
  if (reason.empty()) reason = why_counted_already(seen, input, one);
  if (reason.empty())
    gathered.evidence.push_back({workload_of(one), variant_of(one), match.hardware, match.stated, rate_of(one),
                                 reference, warnings_of(one, match)});
  else
    gathered.set_aside.push_back({reference, to_text(workload_of(one)), one.throughput.value, reason});
}

}  // namespace

Gathered gather(std::span<const ReportInput> reports, const cloud::Catalog& catalog, const Goal& goal) {
  Gathered gathered;
  Seen seen;
  for (const ReportInput& input : reports) {
    const StatedInstance stated = stated_instance(input, catalog, goal.prices);
    for (const record::Case& one : input.report.cases) gather_case(gathered, seen, input, one, stated, catalog, goal);
  }
  return gathered;
}

std::string to_text(const Workload& workload) {
  constexpr std::size_t longest_value = 24;  // a heading is for names and sizes, not for sentences
  std::string options;
  std::set<std::pair<std::string, std::string>> shown;
  for (const auto* map : {&workload.model_options, &workload.data_options})
    for (const auto& [name, value] : *map)
      if (value.size() <= longest_value && shown.insert({name, value}).second)
        options += fmt::format("{}{}={}", options.empty() ? "" : ", ", name, value);
  return fmt::format("{}{} on {}{}", workload.model, options.empty() ? "" : " (" + options + ")",
                     workload.data.empty() ? "unnamed data" : workload.data,
                     workload.optimizer.empty() ? "" : ", " + workload.optimizer);
}

std::string to_text(const Variant& variant) {
  std::string text = fmt::format("batch {}, {}", variant.batch_per_replica, variant.precision);
  if (variant.replicas != 1) text += fmt::format(", {} replicas", variant.replicas);
  if (variant.threads == 1) text += ", 1 thread";
  if (variant.threads > 1) text += fmt::format(", {} threads", variant.threads);
  return text;
}

std::string to_text(const Hardware& hardware) {
  if (!hardware.instance.empty()) return fmt::format("{} ({})", hardware.instance, hardware.cloud);
  return fmt::format("{} x {}", hardware.gpu_count, hardware.gpu);
}

}  // namespace gpusizer::sizing
