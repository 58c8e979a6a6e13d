// SPDX-License-Identifier: Apache-2.0
// Checks first, then one case after another, the report on disk after each.
#include "bench/runner/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "bench/machine/describe.hpp"
#include "bench/runner/checkpoint_start.hpp"
#include "bench/runner/resumed_report.hpp"
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

bool is_kept(const RunRequest& request, std::size_t i) {
  return request.begun && i < request.begun->cases.size() && is_done(request.begun->cases[i]);
}

// Every case is prepared once before the first one runs, so that a mistake in the last is found at once. The first one
// is kept; the others would only fill memory.
std::optional<PreparedCase> check_cases(const RunRequest& request, const std::vector<std::string>& ids) {
  std::optional<PreparedCase> first;
  std::optional<Error> problem;
  std::size_t looked_at = 0, possible = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (is_kept(request, i)) continue;
    ++looked_at;
    std::optional<PreparedCase> prepared;
    try {
      prepared = prepare_case(request.config.cases[i]);
    } catch (const Error& error) {
      if (error.fault() == Fault::usage) throw;
      if (!problem) problem = error;
      continue;
    }
    if (!prepared->config.checkpoint.empty()) checkpoint_start(*prepared, ids[i], request.begun.has_value());
    ++possible;
    if (looked_at == 1) first = std::move(prepared);
  }
  if (possible == 0 && problem) throw *problem;
  return first;
}

record::Report begin_report(const RunRequest& request, const std::vector<std::string>& ids) {
  record::Report report;
  report.created_utc = utc_now();
  report.tool = describe_tool();
  report.command_line = request.command_line;
  report.environment = describe_machine(request.instance);
  if (request.begun) {
    require_same_run(*request.begun, ids, report.environment, report.tool);
    report.created_utc = request.begun->created_utc;
    report.cases = request.begun->cases;
  }
  for (std::size_t i = report.cases.size(); i < ids.size(); ++i)
    report.cases.push_back(skipped_case(request.config.cases[i], ids[i], "the run has not come to this case"));
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

bool saves_checkpoints(const RunConfig& config) {
  const auto saves = [](const CaseConfig& one) { return !one.checkpoint.empty(); };
  return std::any_of(config.cases.begin(), config.cases.end(), saves);
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
  const auto ids = case_ids(request.config);
  RunOutcome outcome{.report = begin_report(request, ids)};
  auto first = check_cases(request, ids);
  // Whoever wants to go on after a power cut needs a report that says with what.
  if (saves_checkpoints(request.config)) write(outcome, request.out);
  CaseContext context{outcome.report.environment, outcome.report.tool, request.stop, request.progress.within};
  context.resumed = request.begun.has_value();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    record::Case& place = outcome.report.cases[i];
    if (is_kept(request, i)) continue;
    if ((outcome.signal = request.stop()) != 0) {
      if (place.status == CaseStatus::skipped) place.reason = "the run was interrupted before this case";
      continue;
    }
    if (request.progress.case_begins) request.progress.case_begins(i, ids.size(), ids[i]);
    place = run_case(request.config.cases[i], ids[i], context, std::exchange(first, std::nullopt));
    context.first_case = false;
    if (i + 1 < ids.size()) write(outcome, request.out);
    if (request.progress.case_ended) request.progress.case_ended(place);
  }
  outcome.signal = request.stop();
  outcome.report.status = outcome.signal != 0 ? ReportStatus::interrupted : ReportStatus::complete;
  write(outcome, request.out);
  return outcome;
}

}  // namespace gpusizer
