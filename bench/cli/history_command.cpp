// SPDX-License-Identifier: Apache-2.0
// gpusizer history: finds the subcommand.
#include "bench/cli/history_command.hpp"

#include <fmt/format.h>

#include <iostream>

#include "gpusizer/error.hpp"

namespace gpusizer::cli {
namespace {

constexpr Command kSubcommands[] = {
    {"add", "put reports into the history", history_add},
    {"show", "the series of the history: level, noise, level shifts; or one HTML page", history_show},
    {"check", "did the newest runs change against those before?", history_check},
    {"accept", "say that a level shift is wanted, or was none", history_accept},
    {"prune", "remove all but the newest runs", history_prune},
    {"rebuild", "make the index again from the report files", history_rebuild},
};

constexpr const char* kHistoryExamples =
    "  gpusizer history add nightly.json\n"
    "  gpusizer history check                              # the newest run; exit code 1 when it became slower\n"
    "  gpusizer history check --emit-rerun > rerun.sh && sh rerun.sh\n"
    "  gpusizer history accept --case 'resnet*' --metric '*' --at 4f2a1c --author Ada --reason 'new default batch'\n"
    "  gpusizer history show --format html --out trend.html\n";

void print_history_help() {
  std::cout << "Usage: gpusizer history add|show|check|accept|prune|rebuild [flags]\n\n";
  for (const Command& command : kSubcommands) std::cout << fmt::format("  {:<9} {}\n", command.name, command.summary);
  std::cout << "\nA history is a folder: report files that never change, and an index that can be made again from them.\n"
               "Each subcommand answers --help.\n\nExamples:\n" << kHistoryExamples;
}

}  // namespace

void add_history_flags(Options& options) {
  options.flag("dir", "FOLDER", fmt::format("of the history [{}]", kHistoryFolder));
  options.flag("branch", "NAME", "whose runs; each branch has a baseline of its own [main]");
}

std::string history_folder(const Options& options) { return options.value("dir").value_or(kHistoryFolder); }
std::string history_branch(const Options& options) { return options.value("branch").value_or("main"); }

int history_command(const Arguments& arguments) {
  if (arguments.empty()) throw Error(Fault::usage, "the subcommand is missing", "", "write gpusizer history add, show, check, accept, prune or rebuild");
  if (arguments.front() == "--help" || arguments.front() == "-h") {
    print_history_help();
    return 0;
  }
  for (const Command& command : kSubcommands)
    if (command.name == arguments.front()) return command.run({arguments.begin() + 1, arguments.end()});
  throw Error(Fault::usage, fmt::format("there is no 'history {}'", arguments.front()), "", "use add, show, check, accept, prune or rebuild");
}

}  // namespace gpusizer::cli
