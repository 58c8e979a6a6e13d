// SPDX-License-Identifier: Apache-2.0
// Google Benchmark: one case for each name, its repetitions as samples.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "gpusizer/error.hpp"
#include "reports/import/foreign.hpp"
#include "reports/import/log_lines.hpp"

namespace gpusizer::import {
namespace {

using nlohmann::json;

double seconds_per(const json& unit) {
  if (unit == "s") return 1;
  if (unit == "ms") return 1e-3;
  return unit == "us" ? 1e-6 : 1e-9;
}

struct Repetitions {
  std::vector<double> seconds, items;
};

double middle_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

record::Report import_google_benchmark(std::string_view text, const ForeignNames& names) {
  const json tree = json::parse(text, nullptr, false);
  if (!tree.is_object() || !tree.contains("benchmarks") || !tree["benchmarks"].is_array())
    throw Error(Fault::input, "it has no list of benchmarks", names.origin, "write it with --benchmark_out_format=json");
  std::map<std::string, Repetitions> benchmarks;
  for (const json& one : tree["benchmarks"]) {
    if (!one.is_object() || one.value("run_type", json("iteration")) != "iteration" || one.contains("error_occurred")) continue;
    const json name = one.value("run_name", one.value("name", json()));
    const auto time = logged_number(one.value("real_time", json()));
    if (!name.is_string() || !time || *time <= 0) continue;
    Repetitions& repetitions = benchmarks[name.get<std::string>()];
    repetitions.seconds.push_back(*time * seconds_per(one.value("time_unit", json("ns"))));
    if (const auto items = logged_number(one.value("items_per_second", json()))) repetitions.items.push_back(*items);
  }
  record::Report report = published_report(names);
  for (const auto& [name, repetitions] : benchmarks) {
    ForeignNames own = names;
    own.model = name;
    record::Case one = published_case(name, own, names.source.empty() ? names.origin : names.source);
    one.config.device_kind = "cpu";
    one.throughput.null_reason = "a benchmark of a function, not of training";
    one.metrics.push_back(published_metric("seconds", middle_of(repetitions.seconds), "s", record::Better::lower));
    one.metrics.back().samples = repetitions.seconds;
    if (!repetitions.items.empty())
      one.metrics.push_back(published_metric("items_per_second", middle_of(repetitions.items), "1/s", record::Better::higher));
    report.cases.push_back(std::move(one));
  }
  return report;
}

}  // namespace gpusizer::import
