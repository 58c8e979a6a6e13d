// SPDX-License-Identifier: Apache-2.0
// Formats of metric systems: OpenMetrics, Prometheus' text files, GitLab's metrics report, Influx lines, CSV for Otava.
#include <fmt/format.h>

#include <cctype>
#include <map>
#include <set>

#include "ci/export/export.hpp"
#include "reports/record/number_text.hpp"
#include "reports/render/units.hpp"

namespace gpusizer::ci {
namespace {

// Inside "..." of a label, and of a string field of Influx.
std::string in_quotes(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '\\' || c == '"') safe += '\\';
    if (c == '\n') safe += "\\n";
    else safe += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return safe;
}

std::string unit_words(const std::string& unit) {
  if (unit == "s") return "seconds";
  if (unit == "B") return "bytes";
  if (unit == "B/s") return "bytes_per_second";
  if (unit == "1" || unit.empty()) return "";
  std::string words;
  for (const char c : unit.ends_with("/s") ? unit.substr(0, unit.size() - 2) : unit)
    words += std::isalnum(static_cast<unsigned char>(c)) ? static_cast<char>(std::tolower(static_cast<unsigned char>(c))) : '_';
  return words + (unit.ends_with("/s") ? "_per_second" : "");
}

std::string labels_of(const ExportRow& row) {
  return fmt::format("{{case=\"{}\",commit=\"{}\",device=\"{}\",model=\"{}\",precision=\"{}\",provenance=\"{}\"}}", in_quotes(row.case_id),
                     in_quotes(row.report->tool.git_commit), in_quotes(row.run->config.device), in_quotes(row.run->config.model),
                     in_quotes(row.run->config.precision), record::to_word(row.provenance));
}

double seconds_of(const std::string& utc) {
  int y = 0, mo = 0, d = 0, h = 0, mi = 0, s = 0;
  if (std::sscanf(utc.c_str(), "%d-%d-%dT%d:%d:%d", &y, &mo, &d, &h, &mi, &s) != 6) return 0;
  // Days since 1970 of a date (proleptic Gregorian calendar, March as the first month).
  const int year = y - (mo <= 2), era = year / 400, of_era = year - era * 400;
  const int of_year = (153 * (mo + (mo > 2 ? -3 : 9)) + 2) / 5 + d - 1;
  const long days = era * 146097L + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
  return static_cast<double>(days * 86400 + h * 3600 + mi * 60 + s);
}

std::string metrics_text(const ExportInput& input, bool openmetrics) {
  std::map<std::string, std::vector<ExportRow>> families;
  std::map<std::string, double> times;
  for (const ExportRow& row : rows_of(input)) {
    families[prometheus_name(row.metric, row.unit)].push_back(row);
    times[labels_of(row)] = seconds_of(row.report->created_utc);
  }
  std::string text;
  for (const auto& [name, rows] : families) {
    text += fmt::format("# HELP {} {} in {}, {} is better.\n# TYPE {} gauge\n", name, in_quotes(rows.front().metric),
                        rows.front().unit == "1" ? "shares or counts" : in_quotes(rows.front().unit), record::to_word(rows.front().better), name);
    const std::string unit = unit_words(rows.front().unit);
    if (openmetrics && !unit.empty() && name.ends_with(fmt::format("_{}", unit))) text += fmt::format("# UNIT {} {}\n", name, unit);
    for (const ExportRow& row : rows) text += fmt::format("{}{} {}\n", name, labels_of(row), record::shortest_text(row.value));
  }
  if (!times.empty()) text += "# HELP gpusizer_run_timestamp_seconds When the run was made, since 1970.\n# TYPE gpusizer_run_timestamp_seconds gauge\n";
  if (openmetrics && !times.empty()) text += "# UNIT gpusizer_run_timestamp_seconds seconds\n";
  for (const auto& [labels, time] : times) text += fmt::format("gpusizer_run_timestamp_seconds{} {:.0f}\n", labels, time);
  return text + (openmetrics ? "# EOF\n" : "");
}

// Commas, spaces and equals signs separate; line ends cannot be written at all.
std::string in_tag(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == ',' || c == ' ' || c == '=') safe += '\\';
    safe += static_cast<unsigned char>(c) < 0x20 || c == '\\' ? '_' : c;
  }
  return safe;
}

std::string tag(const char* name, const std::string& value) { return value.empty() ? "" : fmt::format(",{}={}", name, in_tag(value)); }

std::string in_csv(const std::string& text) {
  std::string safe = text.find_first_of("=+-@") == 0 ? "'" : "";  // a spreadsheet would compute it
  for (const char c : text) safe += c == ',' || c == '"' || static_cast<unsigned char>(c) < 0x20 ? '_' : c;
  return safe;
}

}  // namespace

std::string prometheus_name(const std::string& metric, const std::string& unit) {
  std::string name = "gpusizer_";
  for (const char c : metric) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  const std::string words = unit_words(unit);
  return words.empty() || name.ends_with(fmt::format("_{}", words)) ? name : fmt::format("{}_{}", name, words);
}

std::vector<ExportFile> write_openmetrics(const ExportInput& input) { return {{"", metrics_text(input, true)}}; }
std::vector<ExportFile> write_prometheus(const ExportInput& input) { return {{"", metrics_text(input, false)}}; }

// Values are compared there as text: three digits keep noise from showing as a change.
std::vector<ExportFile> write_gitlab_metrics(const ExportInput& input) {
  std::string text;
  for (const ExportRow& row : rows_of(input))
    if (row.metric == "throughput" || row.metric == "step_seconds")
      text += fmt::format("{}{{case=\"{}\"}} {}\n", prometheus_name(row.metric, row.unit), in_quotes(row.case_id), render::significant(row.value, 3));
  return {{"", text + "# EOF\n"}};
}

std::vector<ExportFile> write_influx(const ExportInput& input) {
  std::string text;
  for (const ExportRow& row : rows_of(input))
    text += fmt::format("gpusizer{}{}{}{}{}{} value={},commit=\"{}\" {:.0f}000000000\n", tag("case", row.case_id), tag("device", row.run->config.device),
                        tag("metric", row.metric), tag("model", row.run->config.model), tag("provenance", record::to_word(row.provenance)), tag("unit", row.unit),
                        record::shortest_text(row.value), in_quotes(row.report->tool.git_commit), seconds_of(row.report->created_utc));
  return {{"", text}};
}

// One file for each workload and hardware: a line per run, a column per metric.
std::vector<ExportFile> write_otava(const ExportInput& input) {
  struct Sheet {
    std::set<std::string> metrics;
    std::map<std::pair<std::string, std::string>, std::map<std::string, double>> lines;  // by time and commit
  };
  std::map<std::string, Sheet> sheets;
  for (const record::Report& report : input.reports)
    for (const ExportRow& row : rows_of({{report}, std::nullopt})) {
      const std::string hash = row.run->fingerprint.identity_hash;
      Sheet& sheet = sheets[hash.empty() ? "no-fingerprint" : hash];
      sheet.metrics.insert(row.case_id + "/" + row.metric);
      sheet.lines[{report.created_utc, report.tool.git_commit}][row.case_id + "/" + row.metric] = row.value;
    }
  std::vector<ExportFile> files;
  for (const auto& [hash, sheet] : sheets) {
    std::string text = "time,commit";
    for (const std::string& metric : sheet.metrics) text += fmt::format(",{}", in_csv(metric));
    for (const auto& [name, values] : sheet.lines) {
      text += fmt::format("\n{},{}", name.first, in_csv(name.second));
      for (const std::string& metric : sheet.metrics) text += fmt::format(",{}", values.contains(metric) ? record::shortest_text(values.at(metric)) : "");
    }
    files.push_back({hash, text + "\n"});
  }
  return files;
}

}  // namespace gpusizer::ci
