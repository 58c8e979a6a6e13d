// SPDX-License-Identifier: Apache-2.0
// Takes reports apart.
#include "ci/compare/readings.hpp"

#include <algorithm>

namespace gpusizer::ci {
namespace {

constexpr const char* kVariable = "variable.";

bool may_be_shown(const std::string& name, const std::string& word) {
  const std::string prefix = kVariable;
  return !name.starts_with(prefix) || record::is_allowed_variable(name.substr(prefix.size()), word);
}

}  // namespace

std::vector<record::Metric> metrics_of(const record::Case& run) {
  std::vector<record::Metric> metrics = run.metrics;
  const auto is_throughput = [](const record::Metric& m) { return m.id == "throughput"; };
  const record::Throughput& t = run.throughput;
  if (std::none_of(metrics.begin(), metrics.end(), is_throughput) && t.value)
    metrics.push_back({.id = "throughput", .value = t.value, .low = t.low, .high = t.high, .null_reason = t.null_reason,
                       .unit = t.unit, .scope = t.scope, .provenance = t.provenance});
  return metrics;
}

Side side_of(const std::vector<record::Report>& reports) {
  Side side;
  for (const record::Report& report : reports)
    for (const record::Case& run : report.cases) {
      CaseRuns& same = side.cases[run.id];
      const auto equal = [&](const record::Case* other) { return *other == run; };
      if (std::any_of(same.runs.begin(), same.runs.end(), equal)) {
        ++side.copies;
        continue;
      }
      same.runs.push_back(&run);
      for (record::Metric& metric : metrics_of(run)) same.metrics[metric.id].push_back({&run, metric});
    }
  return side;
}

bool is_usable(const Reading& reading) {
  return reading.run->status == record::CaseStatus::ok && reading.metric.value.has_value();
}

bool must_be_positive(const std::string& unit) {
  return unit == "s" || unit.ends_with("/s") || unit == "B";
}

void add_words(Words& words, const record::StringMap& map) {
  for (const auto& [name, word] : map)
    if (may_be_shown(name, word)) words[name].insert(word);
}

}  // namespace gpusizer::ci
