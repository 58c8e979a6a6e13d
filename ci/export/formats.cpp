// SPDX-License-Identifier: Apache-2.0
// The table of formats, and what all of them share.
#include <algorithm>
#include <map>

#include "ci/compare/readings.hpp"
#include "ci/export/export.hpp"
#include "gpusizer/error.hpp"
#include "reports/record/statistics.hpp"

namespace gpusizer::ci {
namespace {

constexpr ExportFormat kFormats[] = {
    {"github-action-benchmark", ".json", "github-action-benchmark: customBiggerIsBetter and customSmallerIsBetter", true, write_github_action_benchmark},
    {"bencher", ".json", "Bencher Metric Format (adapter json)", false, write_bencher},
    {"junit", ".xml", "JUnit XML: a test per figure, a failure per regression", false, write_junit},
    {"openmetrics", ".txt", "OpenMetrics 1.0 text", false, write_openmetrics},
    {"prometheus", ".prom", "for the textfile collector of node_exporter, or a Pushgateway", false, write_prometheus},
    {"influx", ".lp", "InfluxDB line protocol", false, write_influx},
    {"pytorch", ".json", "PyTorch HUD benchmark records, version 3", false, write_pytorch},
    {"google-benchmark", ".json", "Google Benchmark JSON", false, write_google_benchmark},
    {"summary", ".md", "Markdown for the summary of a CI job, at most 900 kB", false, write_job_summary},
    {"github-annotations", ".txt", "workflow commands of GitHub Actions, at most 10", false, write_github_annotations},
    {"gitlab-metrics", ".txt", "GitLab metrics report: headline figures, rounded", false, write_gitlab_metrics},
    {"otava", ".csv", "CSV for Apache Otava, one file per workload and hardware", true, write_otava},
};

}  // namespace

std::span<const ExportFormat> export_formats() { return kFormats; }

const ExportFormat& export_format_named(const std::string& name) {
  std::string known;
  for (const ExportFormat& format : kFormats) {
    if (format.name == name) return format;
    known.append(known.empty() ? "" : ", ").append(format.name);
  }
  throw Error(Fault::usage, "there is no export format '" + name + "'", "--format", "use one of " + known);
}

std::vector<ExportFile> exported(const ExportFormat& format, const ExportInput& input) {
  std::vector<ExportFile> files = format.write(input);
  for (ExportFile& file : files) file.text = without_tokens(file.text);
  return files;
}

std::vector<ExportRow> rows_of(const ExportInput& input) {
  std::vector<const record::Report*> reports;
  for (const record::Report& report : input.reports) reports.push_back(&report);
  std::stable_sort(reports.begin(), reports.end(), [](auto* a, auto* b) { return a->created_utc < b->created_utc; });
  std::map<std::pair<std::string, std::string>, ExportRow> rows;
  for (const record::Report* report : reports)
    for (const record::Case& run : report->cases)
      for (const record::Metric& metric : metrics_of(run)) {
        if (run.status != record::CaseStatus::ok || !metric.value) continue;
        ExportRow& row = rows[{run.id, metric.id}];
        row = {run.id, metric.id, metric.unit, metric.better, metric.provenance, std::move(row.values), 0, metric.low, metric.high, &run, report};
        row.values.push_back(*metric.value);
      }
  std::vector<ExportRow> all;
  for (auto& [name, row] : rows) {
    row.value = record::median(row.values);
    if (row.values.size() > 1) row.low = record::minimum(row.values), row.high = record::maximum(row.values);
    all.push_back(std::move(row));
  }
  return all;
}

}  // namespace gpusizer::ci
