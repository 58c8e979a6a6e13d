// SPDX-License-Identifier: Apache-2.0
// Result logs of MLPerf Training: tracked throughput, or samples by time.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "gpusizer/error.hpp"
#include "reports/import/foreign.hpp"
#include "reports/import/log_lines.hpp"

namespace gpusizer::import {
namespace {

using nlohmann::json;

struct MlperfRun {
  std::string benchmark;
  std::optional<double> start_ms, stop_ms, batch;
  double samples = 0;  // the most that an entry counts
  std::vector<double> rates;
  bool aborted = false;
};

void take(const json& entry, MlperfRun& run) {
  const std::string key = entry.contains("key") && entry["key"].is_string() ? entry["key"].get<std::string>() : "";
  const json value = entry.value("value", json()), meta = entry.value("metadata", json::object());
  const auto time = logged_number(entry.value("time_ms", json()));
  if (key == "submission_benchmark" && value.is_string()) run.benchmark = value;
  if (key == "global_batch_size") run.batch = logged_number(value);
  if (key == "run_start") run.start_ms = time;
  if (key == "run_stop") run.stop_ms = time, run.aborted = meta.is_object() && meta.value("status", json("success")) != "success";
  if (key == "tracked_stats" || key == "throughput")
    if (const auto rate = logged_number(value)) run.rates.push_back(*rate);
  if (meta.is_object())
    for (const char* name : {"samples_count", "samples"})
      if (meta.contains(name)) run.samples = std::max(run.samples, logged_number(meta[name]).value_or(0));
}

void judge(record::Case& one, const MlperfRun& run, double rate) {
  const double seconds = (run.stop_ms.value_or(0) - run.start_ms.value_or(0)) / 1e3;
  if (run.aborted) hold_out(one, "aborted", "the run did not reach its target");
  else if (!(seconds > 0)) hold_out(one, "impossible_steps", "the run stops before it starts");
  else if (run.samples > 0 && rate * seconds < run.samples / 1.5)
    hold_out(one, "impossible_steps", fmt::format("{:.6g} samples in {:.6g} s need {:.4g}/s, it claims {:.4g}/s", run.samples, seconds,
                                                  run.samples / seconds, rate));
}

}  // namespace

record::Report import_mllog(std::string_view text, const ForeignNames& names) {
  MlperfRun run;
  for_each_logged(text, ":::MLLOG", [&](const json& entry) { take(entry, run); });
  if (!run.start_ms || !run.stop_ms) throw Error(Fault::input, "the log has no run_start and run_stop", names.origin, "give the whole log");
  const double seconds = (*run.stop_ms - *run.start_ms) / 1e3;
  double rate = run.samples > 0 && seconds > 0 ? run.samples / seconds : 0;
  if (!run.rates.empty()) {
    std::sort(run.rates.begin(), run.rates.end());
    rate = run.rates[run.rates.size() / 2];
  }
  ForeignNames own = names;
  if (own.model.empty()) own.model = run.benchmark;
  if (own.batch == 0 && run.batch && *run.batch < 1e9) own.batch = std::max<std::int64_t>(1, std::int64_t(*run.batch) / std::max<std::int64_t>(1, own.devices));
  record::Case one = published_case(fmt::format("mllog/{}", own.model), own, names.source.empty() ? names.origin : names.source);
  set_rate(one, rate, "samples/s");
  judge(one, run, rate);
  record::Report report = published_report(names);
  report.cases.push_back(std::move(one));
  return report;
}

}  // namespace gpusizer::import
