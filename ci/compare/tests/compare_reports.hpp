// SPDX-License-Identifier: Apache-2.0
// Small reports for tests: one case with the step time and the throughput that a test wants.
#pragma once

#include <string>
#include <vector>

#include "reports/record/record.hpp"

namespace gpusizer::ci {

inline record::Case case_with(const std::string& id, double step_seconds, int number = 0) {
  record::Case run;
  run.id = id;
  run.config.model = "resnet8";
  run.config.batch_per_replica = 10;
  run.status = record::CaseStatus::ok;
  run.started_utc = "2026-01-31T12:00:0" + std::to_string(number % 10) + "Z";
  run.config.seed = static_cast<std::uint64_t>(number);
  run.throughput.null_reason = "see the metrics";
  run.metrics = {{.id = "throughput", .value = 100 / step_seconds, .low = 99 / step_seconds, .high = 101 / step_seconds, .unit = "images/s"},
                 {.id = "step_seconds", .value = step_seconds, .low = 0.99 * step_seconds, .high = 1.01 * step_seconds, .unit = "s",
                  .better = record::Better::lower}};
  run.fingerprint.identity = {{"model", "resnet8"}, {"device", "cpu"}};
  run.fingerprint.environment = {{"kernel", "6.1"}};
  return run;
}

inline record::Report report_of(std::vector<record::Case> cases) {
  record::Report report;
  report.created_utc = "2026-01-31T12:01:30Z";
  report.status = record::ReportStatus::complete;
  report.cases = std::move(cases);
  return report;
}

inline record::Report report_with(double step_seconds, int number = 0) { return report_of({case_with("a", step_seconds, number)}); }

// Step times of twenty runs of one commit, in ms, and of the five runs of a slower one.
inline const std::vector<double> kHistoryMs = {101.2, 99.8,  100.5, 98.9, 100.1, 101.0, 99.4,  100.7, 99.9, 100.3,
                                               98.8,  101.5, 100.2, 99.6, 100.9, 99.1,  100.4, 100.0, 99.7, 101.1};
inline const std::vector<double> kSlowerMs = {102.9, 103.4, 102.2, 103.0, 103.6};

inline std::vector<record::Report> reports_of(const std::vector<double>& milliseconds, int first = 0) {
  std::vector<record::Report> reports;
  for (const double ms : milliseconds) reports.push_back(report_with(ms / 1000, first++));
  return reports;
}

}  // namespace gpusizer::ci
