// SPDX-License-Identifier: Apache-2.0
// gpusizer run: from flags to cases, to a report file and a few lines for a person.
#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <optional>

#include "bench/cli/command.hpp"
#include "bench/cli/command_text.hpp"
#include "bench/cli/default_out.hpp"
#include "bench/cli/options.hpp"
#include "bench/cli/progress_line.hpp"
#include "bench/cli/run_request.hpp"
#include "bench/cli/run_simulated.hpp"
#include "bench/cli/terminal.hpp"
#include "bench/cli/wait_policy.hpp"
#include "bench/machine/describe.hpp"
#include "bench/run_config/suite_file.hpp"
#include "bench/runner/resumed_report.hpp"
#include "bench/runner/stop_signals.hpp"
#include "reports/record/json.hpp"
#include "reports/render/text.hpp"
#include "workloads/backend/communicator/world.hpp"

namespace gpusizer::cli {
namespace {

// Nothing is lost silently: what did not reach its file goes to standard output.
void refuse_unwritten(const RunOutcome& outcome, const std::filesystem::path& out) {
  if (!outcome.write_problem) return;
  throw Error(outcome.write_problem->fault(),
              fmt::format("the report could not be written to {}, so it was printed instead: {}", out.string(),
                          outcome.write_problem->problem()), "--out", "save the output, or make room and run again");
}

int conclude(const RunOutcome& outcome, const std::filesystem::path& out, bool json, bool shown) {
  if (json || outcome.write_problem) std::cout << record::to_json(outcome.report);
  refuse_unwritten(outcome, out);
  if (!json) {
    for (const record::Case& record : shown ? std::vector<record::Case>{} : outcome.report.cases)
      std::cout << render::printable(record.id) << "  " << render::printable(summary_of(record)) << "\n";
    std::cout << "report: " << render::printable(out.string()) << "\n";
    if (outcome.report.status == record::ReportStatus::interrupted)
      std::cout << "to go on: gpusizer run --resume " << render::printable(shell_quoted(out.string())) << "\n";
  }
  return outcome.exit_code();
}

int say_nothing_to_do(const Options& options) {
  std::cout << "there is nothing to do: every case of " << render::printable(*options.value("resume")) << " is done\n";
  return 0;
}

// Where a launcher started several of us: joined to the others, or an error.
std::unique_ptr<Communicator> join_others(const World& world, const RunConfig& config) {
  return open_communicator(world, config.cases.front().parallel.comm_timeout_seconds);
}

// Where nobody says how many ranks there are, they are as many as the processes that a launcher started: replicas.
Arguments with_ranks(const Arguments& words, const Options& options, const World& world) {
  Arguments all = words;
  for (const char* flag : {"devices", "parallel", "suite", "sweep", "resume"})
    if (options.has(flag)) return all;
  if (world.size > 1) all.insert(all.end(), {"--devices", std::to_string(world.size)});
  return all;
}

// The name that rank 0 has chosen is everybody's.
std::filesystem::path agreed_out(std::optional<DefaultOut>& claimed, const std::filesystem::path& asked,
                                 Communicator* others) {
  const bool leads = !others || others->rank() == 0;
  if (asked.empty() && leads) claimed.emplace("", utc_now());
  const std::filesystem::path own = claimed ? claimed->path() : asked;
  return others ? std::filesystem::path(others->broadcast(0, own.string())) : own;
}

}  // namespace

int run_command(const Arguments& arguments) {
  Options options = run_options();
  if (options.parse(arguments)) return 0;
  if (is_simulated(options)) return run_simulated(options, arguments);
  if (options.has("trace"))
    throw Error(Fault::usage, "a trace is made of simulated steps only", "--trace", "add --device simulated:GPU, or leave it out");
  const World world = find_world(process_environment());
  const Arguments words = with_ranks(arguments, options, world);
  Options all = run_options();
  all.parse(words);
  RunRequest request = request_of(all, words);
  if (request.begun && is_done(*request.begun, case_ids(request.config)))
    return world.rank == 0 ? say_nothing_to_do(options) : 0;
  choose_wait_policy();  // may start the program anew
  const std::unique_ptr<Communicator> others = join_others(world, request.config);
  request.processes = others.get();
  std::optional<DefaultOut> claimed;
  request.out = agreed_out(claimed, request.out, others.get());

  const bool quiet = options.has("quiet") || world.rank != 0;
  ProgressLine progress(stderr, stderr_is_terminal(), quiet);
  request.progress = progress.callbacks();
  const StopSignals signals;
  request.stop = [&] { return signals.received(); };
  const RunOutcome outcome = run_cases(request);
  if (world.rank != 0) return outcome.exit_code();
  // A person who watched the progress on this terminal has seen each case's line already.
  const bool shown = !quiet && stderr_is_terminal() && stdout_is_terminal();
  return conclude(outcome, request.out, options.has("json"), shown);
}

}  // namespace gpusizer::cli
