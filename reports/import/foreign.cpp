// SPDX-License-Identifier: Apache-2.0
// The table of formats, and what their readers share.
#include "reports/import/foreign.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "cloud/catalog/nearest_names.hpp"
#include "gpusizer/error.hpp"
#include "reports/record/check.hpp"

namespace gpusizer::import {
namespace {

constexpr ForeignFormat formats[] = {
    {"csv", "a table of published measurements, as gpusizer backtest reads it", import_csv},
    {"mllog", "a result log of MLPerf Training (:::MLLOG lines)", import_mllog},
    {"nccl-tests", "the output of all_reduce_perf and its like", import_nccl_tests},
    {"dllogger", "a log of NVIDIA's DLLogger (DLLL lines)", import_dllogger},
    {"google-benchmark", "JSON of Google Benchmark (--benchmark_out_format=json)", import_google_benchmark},
};

}  // namespace

std::span<const ForeignFormat> foreign_formats() { return formats; }

record::Report published_report(const ForeignNames& names) {
  record::Report report;
  report.created_utc = names.created_utc;
  report.status = record::ReportStatus::complete;
  report.provenance = record::Provenance::published;
  return report;
}

record::Case published_case(const std::string& id, const ForeignNames& names, const std::string& source) {
  record::Case one;
  one.id = id;
  one.status = record::CaseStatus::ok;
  one.config.model = names.model.empty() ? "unknown" : names.model;
  one.config.data = "unknown";
  one.config.device_kind = "cuda";
  one.config.device = names.gpu;
  one.config.devices = one.config.replicas = std::max<std::int64_t>(1, names.devices);
  one.config.batch_per_replica = std::max<std::int64_t>(1, names.batch);
  one.config.precision = names.precision.empty() ? "unknown" : names.precision;
  one.throughput.provenance = record::Provenance::published;
  one.unknown.emplace_back("source", nlohmann::json(source).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace));
  return one;
}

void set_rate(record::Case& one, double value, const std::string& unit) {
  one.throughput.unit = unit;
  if (std::isfinite(value) && value > 0) {
    one.throughput.value = value;
    one.throughput.null_reason = "it was published without an interval";
  } else {
    hold_out(one, "garbage", fmt::format("its throughput is {}", value));
  }
}

void hold_out(record::Case& one, const std::string& id, const std::string& sentence) {
  one.status = record::CaseStatus::invalid;
  one.reason = sentence;
  one.validity_flags.push_back({.id = id, .sentence = sentence, .blocks_advice = true, .unknown = {}});
}

record::Metric published_metric(const std::string& id, double value, const std::string& unit, record::Better better) {
  record::Metric metric;
  metric.id = id;
  metric.value = value;
  metric.null_reason = "it was published without an interval";
  metric.unit = unit;
  metric.better = better;
  metric.provenance = record::Provenance::published;
  return metric;
}

record::Report import_foreign(std::string_view format, std::string_view text, const ForeignNames& names) {
  std::vector<std::string> known;
  for (const ForeignFormat& one : formats) {
    if (one.name != format) {
      known.emplace_back(one.name);
      continue;
    }
    record::Report report = one.read(text, names);
    if (report.cases.empty()) throw Error(Fault::input, fmt::format("there is no result of {} in it", format), names.origin);
    if (const auto problems = record::check_report(report); !problems.empty())
      throw Error(Fault::input, fmt::format("it cannot be a result: {} {}", problems[0].pointer, problems[0].what), names.origin);
    return report;
  }
  const auto near = cloud::nearest_names(std::string(format), known, 1);
  throw Error(Fault::usage, fmt::format("there is no format '{}'", format), "--from",
              near.empty() ? "use csv, mllog, nccl-tests, dllogger or google-benchmark" : fmt::format("did you mean {}?", near.front()));
}

}  // namespace gpusizer::import
