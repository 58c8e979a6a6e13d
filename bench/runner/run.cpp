// SPDX-License-Identifier: Apache-2.0
// Checks first, then one case after another, the report on disk after each.
#include "bench/runner/run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "bench/machine/describe.hpp"
#include "bench/runner/checkpoint_start.hpp"
#include "bench/runner/metrics.hpp"
#include "bench/runner/resumed_report.hpp"
#include "reports/record/atomic_file.hpp"
#include "reports/record/report_file.hpp"
#include "reports/record/scaling.hpp"

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

// Where rank 0 finds a checkpoint in the way, nobody starts.
void check_checkpoints(const RunRequest& request, const Lockstep& lockstep, const PreparedCase& prepared,
                       const std::string& id) {
  lockstep.together([&] {
    if (lockstep.leads() && !prepared.config.checkpoint.empty())
      checkpoint_start(prepared, id, request.begun.has_value());
  });
}

// Every case is prepared once before the first one runs, so that a mistake in the last is found at once. The first one
// is kept; the others would only fill memory.
std::optional<PreparedCase> check_cases(const RunRequest& request, const Lockstep& lockstep,
                                        const std::vector<std::string>& ids) {
  std::optional<PreparedCase> first;
  std::optional<Error> problem;
  std::size_t looked_at = 0, possible = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (is_kept(request, i)) continue;
    ++looked_at;
    std::optional<PreparedCase> prepared;
    try {
      prepared = prepare_together(request.config.cases[i], lockstep);
    } catch (const CommunicationError&) {
      throw;
    } catch (const Error& error) {
      if (error.fault() == Fault::usage) throw;
      if (!problem) problem = error;
      continue;
    }
    check_checkpoints(request, lockstep, *prepared, ids[i]);
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

// It had been begun, and yet there was no checkpoint of it to go on from.
void flag_lost_beginning(record::Case& record, const RunRequest& request, std::size_t i) {
  if (!request.begun || request.config.cases[i].checkpoint.empty()) return;
  const bool begun = i < request.begun->cases.size() && request.begun->cases[i].status == CaseStatus::interrupted;
  if (begun && record.checkpoints && !record.checkpoints->resumed_at_step)
    add_flag(record, "began_anew", "No checkpoint of the interrupted case was found, so it was begun anew.", false);
}

bool ended_well(const record::Case& one) { return one.status == CaseStatus::ok; }

// The cases of a request, one after the other.
class Run {
 public:
  explicit Run(const RunRequest& request)
      : request_(request), lockstep_(request.processes), ids_(case_ids(request.config)) {
    lockstep_.together([&] {
      if (lockstep_.leads()) check_writable(request.out);
    });
    outcome_.report = begin_report(request, ids_);
    lockstep_.require_same(said());
    first_ = check_cases(request, lockstep_, ids_);
    write_report();  // whatever ends this program from now on: an older report here is not taken for this run's
  }

  RunOutcome all() {
    CaseContext context{outcome_.report.environment, outcome_.report.tool, request_.stop, request_.progress.within};
    context.resumed = request_.begun.has_value();
    context.lockstep = lockstep_;
    for (std::size_t i = 0; i < ids_.size() && !lost_; ++i)
      if (!is_kept(request_, i) && !is_interrupted(i)) run_one(i, context);
    if (const int own = request_.stop(); own != 0) outcome_.signal = own;
    const bool complete = outcome_.signal == 0 && !lost_;
    outcome_.report.status = complete ? ReportStatus::complete : ReportStatus::interrupted;
    write_report();
    return std::move(outcome_);
  }

 private:
  // What must be the same on all processes.
  std::string said() const {
    const record::Tool& tool = outcome_.report.tool;
    return fmt::format("{}\n{}\n{}\n{}", request_.command_line, tool.version, tool.git_commit, fmt::join(ids_, "\n"));
  }

  bool is_interrupted(std::size_t i) {
    record::Case& place = outcome_.report.cases[i];
    try {
      outcome_.signal = lockstep_.any_signal(request_.stop());
    } catch (const CommunicationError& error) {
      lose(i, error);
      return true;
    }
    if (outcome_.signal != 0 && place.status == CaseStatus::skipped)
      place.reason = "the run was interrupted before this case";
    return outcome_.signal != 0;
  }

  void run_one(std::size_t i, CaseContext& context) {
    record::Case& place = outcome_.report.cases[i];
    if (request_.progress.case_begins) request_.progress.case_begins(i, ids_.size(), ids_[i]);
    context.save_now = [this, i](const record::Case& now, const std::optional<MissingRank>& missing) {
      if (missing && missing->rank == 0 && request_.processes->rank() == 1) take_over(i);
      outcome_.report.cases[i] = now;
      outcome_.report.status = ReportStatus::interrupted;
      write_report();
    };
    place = run_case(request_.config.cases[i], ids_[i], context, std::exchange(first_, std::nullopt));
    flag_lost_beginning(place, request_, i);
    context.first_case = false;
    settle(i);
    if (i + 1 < ids_.size()) write_report();
    if (request_.progress.case_ended) request_.progress.case_ended(place);
  }

  // All know how it ended as rank 0 does; or some of them do not answer any more.
  void settle(std::size_t i) {
    record::Case& place = outcome_.report.cases[i];
    try {
      const std::string told = lockstep_.of_leader(place.status == CaseStatus::ok ? "" : place.reason);
      if (lockstep_.leads()) return;
      place.status = told.empty() ? CaseStatus::ok : CaseStatus::failed;
      place.reason = told;
    } catch (const CommunicationError& error) {
      lose(i, error);
    }
  }

  // Processes are lost: this case may be gone on with, by other processes, and the later ones were never begun.
  void lose(std::size_t i, const CommunicationError& error) {
    lost_ = true;
    for (std::size_t later = i; later < ids_.size(); ++later) {
      record::Case& one = outcome_.report.cases[later];
      if (later == i && one.status == CaseStatus::ok) one.status = CaseStatus::interrupted;
      if (one.status == CaseStatus::skipped)
        one.reason = fmt::format("the run ended before this case: {}", error.problem());
      if (one.reason.empty()) one.reason = error.what();
    }
    if (error.rank() == 0 && request_.processes->rank() == 1) take_over(i);
  }

  // Rank 0 is gone: what it has written stays, and this process, the next one, adds what it knows.
  void take_over(std::size_t i) {
    takes_over_ = true;
    try {
      record::Report written = record::read_report(request_.out, record::Series::load);
      for (std::size_t earlier = 0; earlier < i && earlier < written.cases.size(); ++earlier)
        outcome_.report.cases[earlier] = written.cases[earlier];
    } catch (const Error&) {
      // Nothing was written, or not here: this process's own report is all there is.
    }
  }

  void write_report() {
    record::fill_scaling(outcome_.report);
    if (lockstep_.leads() || takes_over_) write(outcome_, request_.out);
  }

  const RunRequest& request_;
  Lockstep lockstep_;
  const std::vector<std::string> ids_;
  RunOutcome outcome_;
  std::optional<PreparedCase> first_;
  bool lost_ = false, takes_over_ = false;
};

}  // namespace

int RunOutcome::exit_code() const {
  if (write_problem) return write_problem->exit_code();
  if (signal != 0) return 128 + signal;
  return std::all_of(report.cases.begin(), report.cases.end(), ended_well) ? 0 : static_cast<int>(Fault::failed);
}

RunOutcome run_cases(const RunRequest& request) { return Run(request).all(); }

}  // namespace gpusizer
