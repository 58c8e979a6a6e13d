// SPDX-License-Identifier: Apache-2.0
// Formats that are JSON: github-action-benchmark, Bencher, PyTorch HUD, Google Benchmark.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "ci/export/export.hpp"
#include "reports/record/number_text.hpp"

namespace gpusizer::ci {
namespace {

using OutJson = nlohmann::ordered_json;

std::string printed(const OutJson& tree) { return tree.dump(2, ' ', false, OutJson::error_handler_t::replace) + "\n"; }

std::string extra_of(const ExportRow& row) {
  return fmt::format("runs={}\nprovenance={}\ncommit={}\ndevice={}", row.values.size(), record::to_word(row.provenance), row.report->tool.git_commit,
                     row.run->config.device);
}

OutJson benchmarks_of(const ExportInput& input, record::Better better) {
  OutJson list = OutJson::array();
  for (const ExportRow& row : rows_of(input)) {
    if (row.better != better) continue;
    OutJson entry = {{"name", row.case_id + "/" + row.metric}, {"unit", row.unit}, {"value", row.value}};
    if (row.low && row.high) entry["range"] = fmt::format("± {}", record::shortest_text((*row.high - *row.low) / 2));
    entry["extra"] = extra_of(row);
    list.push_back(entry);
  }
  return list;
}

// Cuts at a whole character of UTF-8.
std::string at_most(std::string text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xc0u) == 0x80u) --bytes;
  return text.substr(0, bytes);
}

}  // namespace

// A file has one direction there, so that two are needed; its reader makes 0 of null, so that missing values are left out.
std::vector<ExportFile> write_github_action_benchmark(const ExportInput& input) {
  return {{"bigger-is-better", printed(benchmarks_of(input, record::Better::higher))},
          {"smaller-is-better", printed(benchmarks_of(input, record::Better::lower))}};
}

// Names up to 1024 characters, measures up to 64; the direction is said by the thresholds over there.
std::vector<ExportFile> write_bencher(const ExportInput& input) {
  OutJson tree = OutJson::object();
  for (const ExportRow& row : rows_of(input)) {
    OutJson measure = {{"value", row.value}};
    if (row.low) measure["lower_value"] = *row.low;
    if (row.high) measure["upper_value"] = *row.high;
    tree[at_most(row.case_id, 1024)][at_most(row.metric, 64)] = measure;
  }
  return {{"", printed(tree)}};
}

std::vector<ExportFile> write_pytorch(const ExportInput& input) {
  OutJson list = OutJson::array();
  for (const ExportRow& row : rows_of(input)) {
    const record::Config& config = row.run->config;
    const OutJson mode = config.inference ? "inference" : "training";
    list.push_back({{"benchmark", {{"name", "gpusizer"}, {"mode", mode}, {"dtype", config.precision},
                                   {"extra_info", {{"case", row.case_id}, {"provenance", record::to_word(row.provenance)}, {"commit", row.report->tool.git_commit}}}}},
                    {"model", {{"name", config.model}, {"type", "gpusizer workload"}, {"backend", config.device_kind}}},
                    {"metric", {{"name", row.metric}, {"benchmark_values", row.values}, {"extra_info", {{"unit", row.unit}, {"better", record::to_word(row.better)}}}}},
                    {"runners", OutJson::array({{{"name", config.device}, {"type", config.device_kind}}})},
                    {"dependencies", OutJson(row.report->environment.libraries)}});
  }
  return {{"", printed(list)}};
}

// One benchmark per case; readers of that format look at real_time, so that is the step time, and the rest are counters.
std::vector<ExportFile> write_google_benchmark(const ExportInput& input) {
  OutJson list = OutJson::array();
  std::string last;
  for (const ExportRow& row : rows_of(input)) {
    if (row.case_id != last)
      list.push_back({{"name", row.case_id}, {"family_index", list.size()}, {"per_family_instance_index", 0}, {"run_name", row.case_id}, {"run_type", "iteration"},
                      {"repetitions", row.values.size()}, {"repetition_index", 0}, {"threads", 1}, {"iterations", row.run->measurement.measured_steps},
                      {"real_time", 0.0}, {"cpu_time", 0.0}, {"time_unit", "s"}});
    last = row.case_id;
    if (row.metric == "step_seconds") list.back()["real_time"] = list.back()["cpu_time"] = row.value;
    else list.back()[row.metric == "throughput" ? "items_per_second" : row.metric] = row.value;
  }
  OutJson kept = OutJson::array();
  for (const OutJson& entry : list)  // a time of 0 would be taken for a measured one
    if (entry["real_time"] > 0.0) kept.push_back(entry);
  const record::Report empty, &newest = input.reports.empty() ? empty : input.reports.back();
  const OutJson context = {{"date", newest.created_utc}, {"executable", "gpusizer"}, {"num_cpus", newest.environment.cpu_threads.optional().value_or(1)},
                           {"library_version", newest.tool.version}, {"library_build_type", newest.tool.build_type == "Debug" ? "debug" : "release"},
                           {"json_schema_version", 1}, {"commit", newest.tool.git_commit}};
  return {{"", printed({{"context", context}, {"benchmarks", kept}})}};
}

}  // namespace gpusizer::ci
