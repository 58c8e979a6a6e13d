// SPDX-License-Identifier: Apache-2.0
// Checks first, then one case after another, the report on disk after each.
#include "bench/runner/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "bench/machine/describe.hpp"
#include "reports/record/atomic_file.hpp"
#include "reports/record/report_file.hpp"

namespace gpusizer {
namespace {

namespace fs = std::filesystem;
using record::CaseStatus;
using record::ReportStatus;

// Finds out now, not after an hour of measuring. Writes and removes a neighbour: an old report stays until there is a new one.
void check_writable(const fs::path& out) {
  std::error_code error;
  const fs::file_status status = fs::status(out, error);
  if (fs::exists(status) && !fs::is_regular_file(status))
    throw Error(Fault::environment, fmt::format("{} is not a file", out.string()), "--out", "name a file in a folder");
  fs::path probe = out;
  probe += ".probe";
  try {
    record::write_file_atomically(probe, "can this folder be written?\n");
  } catch (const Error& problem) {
    throw Error(Fault::environment, fmt::format("the report cannot be written to {}: {}", out.string(), problem.problem()),
                "--out", "choose a folder that exists and may be written");
  }
  fs::remove(probe, error);
}

// Every case is prepared once before the first one runs, so that a mistake in the last is found at once. The first one
// is kept; the others would only fill memory.
std::optional<PreparedCase> check_cases(const RunConfig& config) {
  std::optional<PreparedCase> first;
  std::optional<Error> problem;
  std::size_t possible = 0;
  for (std::size_t i = 0; i < config.cases.size(); ++i) {
    try {
      PreparedCase prepared = prepare_case(config.cases[i]);
      if (i == 0) first = std::move(prepared);
      ++possible;
    } catch (const Error& error) {
      if (error.fault() == Fault::usage) throw;
      if (!problem) problem = error;
    }
  }
  if (possible == 0 && problem) throw *problem;
  return first;
}

record::Report begin_report(const RunRequest& request) {
  record::Report report;
  report.created_utc = utc_now();
  report.tool = describe_tool();
  report.command_line = request.command_line;
  report.environment = describe_machine(request.instance);
  return report;
}

void write(RunOutcome& outcome, const fs::path& out) {
  try {
    record::write_report(out, outcome.report);
    outcome.write_problem.reset();
  } catch (const Error& error) {
    outcome.write_problem = error;  // the next case may find room again
  }
}

bool ended_well(const record::Case& one) { return one.status == CaseStatus::ok; }

}  // namespace

int RunOutcome::exit_code() const {
  if (write_problem) return write_problem->exit_code();
  if (signal != 0) return 128 + signal;
  return std::all_of(report.cases.begin(), report.cases.end(), ended_well) ? 0 : static_cast<int>(Fault::failed);
}

RunOutcome run_cases(const RunRequest& request) {
  check_writable(request.out);
  auto first = check_cases(request.config);
  RunOutcome outcome{.report = begin_report(request)};
  CaseContext context{outcome.report.environment, outcome.report.tool, request.stop, request.progress.within};
  const auto ids = case_ids(request.config);
  const auto& cases = request.config.cases;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if ((outcome.signal = request.stop()) != 0) {
      outcome.report.cases.push_back(skipped_case(cases[i], ids[i], "the run was interrupted before this case"));
      continue;
    }
    context.first_case = i == 0;
    if (request.progress.case_begins) request.progress.case_begins(i, cases.size(), ids[i]);
    outcome.report.cases.push_back(run_case(cases[i], ids[i], context, i == 0 ? std::move(first) : std::nullopt));
    if (i + 1 < cases.size()) write(outcome, request.out);
    if (request.progress.case_ended) request.progress.case_ended(outcome.report.cases.back());
  }
  outcome.signal = request.stop();
  outcome.report.status = outcome.signal != 0 ? ReportStatus::interrupted : ReportStatus::complete;
  write(outcome, request.out);
  return outcome;
}

}  // namespace gpusizer
