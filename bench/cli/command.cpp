// SPDX-License-Identifier: Apache-2.0
// The table of commands, and finding one in it.
#include "bench/cli/command.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cloud/catalog/nearest_names.hpp"
#include "gpusizer/error.hpp"

namespace gpusizer::cli {
namespace {

constexpr Command kCommands[] = {
    {"run", "train workloads on this machine, measure them, write a report", run_command},
    {"report", "show reports: for the terminal, or as Markdown", report_command},
    {"advise", "from reports: seconds and dollars per epoch on what can be rented", advise_command},
    {"compare", "new reports against a base: what became slower, and how sure that is", compare_command},
    {"history", "keep the reports of many runs and watch their figures: add, show, check, ...", history_command},
    {"export", "reports in the formats of other tools: JUnit, Prometheus, Bencher, ...", export_command},
    {"predict", "throughput and memory on GPUs that are not here, with an interval", predict_command},
    {"import", "results of other tools, as a report of published figures", import_command},
    {"backtest", "how far predictions are off, on a table of published measurements", backtest_command},
    {"list", "models, data, devices, suites, instances, or the program of a model", list_command},
    {"version", "this build", version_command},
    {"help", "this text, or the help of a command", help_command},
};

}  // namespace

std::span<const Command> commands() { return kCommands; }

const Command& find_command(const std::string& name) {
  const auto it = std::find_if(std::begin(kCommands), std::end(kCommands), [&](const Command& c) { return c.name == name; });
  if (it != std::end(kCommands)) return *it;
  std::vector<std::string> known;
  for (const Command& command : kCommands) known.emplace_back(command.name);
  const auto near = cloud::nearest_names(name, known, 1);
  throw Error(Fault::usage, fmt::format("there is no command '{}'", name), "",
              near.empty() ? "see gpusizer help" : fmt::format("did you mean {}? see gpusizer help", near.front()));
}

std::vector<std::string> as_command(std::vector<std::string> words) {
  if (words.empty()) return {"help"};
  if (words.front() == "--help" || words.front() == "-h") words.front() = "help";
  if (words.front() == "--version") words.front() = "version";
  // `gpusizer --json --version` means the same as `gpusizer --version --json`.
  const auto version = std::find(words.begin(), words.end(), "--version");
  if (words.front() == "--json" && version != words.end()) return {"version", "--json"};
  return words;
}

}  // namespace gpusizer::cli
