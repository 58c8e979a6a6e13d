// SPDX-License-Identifier: Apache-2.0
// A whole run: every case in turn, the report written after each of them, whatever happens.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "bench/run_config/suite_file.hpp"
#include "bench/runner/case_runner.hpp"
#include "gpusizer/error.hpp"

namespace gpusizer {

struct RunProgress {
  std::function<void(std::size_t index, std::size_t count, const std::string& id)> case_begins;
  CaseProgress within;
  std::function<void(const record::Case&)> case_ended;
};

struct RunRequest {
  RunConfig config;
  std::filesystem::path out;
  std::string command_line;
  std::string instance;  // of --as; empty: what the firmware says
  StopRequested stop;    // from StopSignals, or a test
  RunProgress progress;
  std::optional<record::Report> begun;  // a report to go on with: its done cases stay, the others are run
  // Joins this process to the others that run the same cases, each as one rank; rank 0 writes the report. nullptr: this
  // process is alone, and ranks are its threads.
  Communicator* processes = nullptr;
};

struct RunOutcome {
  record::Report report;
  std::optional<Error> write_problem;  // the last attempt to write the report failed: the file is not what the report is
  int signal = 0;                      // that ended the run

  // 0; 4 when a case did not end well; 5 when the report could not be written; 128 + signal.
  int exit_code() const;
};

// First checks all cases and that `out` can be written: throws Error for a case that cannot be (usage), or when none can
// be prepared, a checkpoint stands in the way (see checkpoint_start()), or `begun` is of another run or machine. After
// that nothing throws for the fault of one case. An interrupted run records the other cases as skipped, and so does one
// whose processes were lost; the first of the survivors writes the report then.
RunOutcome run_cases(const RunRequest& request);

}  // namespace gpusizer
