// SPDX-License-Identifier: Apache-2.0
// The table of export formats. To add one: a file with a write function here, its declaration below, a line in formats.cpp.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ci/compare/verdict.hpp"
#include "reports/record/record.hpp"

namespace gpusizer::ci {

struct ExportInput {
  std::vector<record::Report> reports;
  std::optional<Comparison> comparison;  // with a base: verdicts
};

struct ExportFile {
  std::string suffix;  // goes before the extension: "bigger-is-better"; empty for the only file of a format
  std::string text;
};

struct ExportFormat {
  std::string_view name, extension, summary;
  bool several_files;
  std::vector<ExportFile> (*write)(const ExportInput& input);
};

std::span<const ExportFormat> export_formats();
const ExportFormat& export_format_named(const std::string& name);  // throws Error(usage)

// The files of a format. Whatever looks like a token in them is replaced, wherever it came from.
std::vector<ExportFile> exported(const ExportFormat& format, const ExportInput& input);

// One figure over all runs of the input that have a value for it.
struct ExportRow {
  std::string case_id, metric, unit;
  record::Better better = record::Better::higher;
  record::Provenance provenance = record::Provenance::measured;
  std::vector<double> values;         // one per run, in order of time
  double value = 0;                   // their median
  std::optional<double> low, high;    // of one run its interval, of several their smallest and largest
  const record::Case* run = nullptr;  // the newest
  const record::Report* report = nullptr;
};
std::vector<ExportRow> rows_of(const ExportInput& input);  // by case and metric

// Base SI names for metric systems: "step_seconds" + "s" -> "gpusizer_step_seconds".
std::string prometheus_name(const std::string& metric, const std::string& unit);

// "ghp_...", "AKIA...", "Bearer ..." and the like become "[removed]".
std::string without_tokens(const std::string& text);

std::vector<ExportFile> write_github_action_benchmark(const ExportInput& input);
std::vector<ExportFile> write_bencher(const ExportInput& input);
std::vector<ExportFile> write_junit(const ExportInput& input);
std::vector<ExportFile> write_openmetrics(const ExportInput& input);
std::vector<ExportFile> write_prometheus(const ExportInput& input);
std::vector<ExportFile> write_influx(const ExportInput& input);
std::vector<ExportFile> write_pytorch(const ExportInput& input);
std::vector<ExportFile> write_google_benchmark(const ExportInput& input);
std::vector<ExportFile> write_job_summary(const ExportInput& input);
std::vector<ExportFile> write_github_annotations(const ExportInput& input);
std::vector<ExportFile> write_gitlab_metrics(const ExportInput& input);
std::vector<ExportFile> write_otava(const ExportInput& input);

}  // namespace gpusizer::ci
