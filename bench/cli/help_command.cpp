// SPDX-License-Identifier: Apache-2.0
// gpusizer help: the list of commands, or one command's own help.
#include <fmt/format.h>

#include <iostream>

#include "bench/cli/command.hpp"
#include "bench/cli/options.hpp"

namespace gpusizer::cli {

int help_command(const Arguments& arguments) {
  Options options("help", "[COMMAND]", "  gpusizer help run\n");
  options.positional("word", 1);
  if (options.parse(arguments)) return 0;
  const auto words = options.values("word");
  if (!words.empty() && words.front() != "help") return find_command(words.front()).run({"--help"});
  std::cout << "gpusizer trains reference workloads on this machine, reports their throughput with error bars, and says\n"
               "from such reports which instance to rent.\n\nUsage: gpusizer COMMAND [flags]\n\n";
  for (const Command& command : commands()) std::cout << fmt::format("  {:<9}{}\n", command.name, command.summary);
  std::cout << "\ngpusizer COMMAND --help shows flags and examples. Exit codes: 0 done, 1 a gated regression, 2 usage,\n"
               "3 unreadable input, 4 a case failed or nothing was measured, 5 something is missing on this machine,\n"
               "130 and 143 interrupted.\n\nFirst steps:\n"
               "  gpusizer list\n"
               "  gpusizer run --suite demo --out demo.json\n"
               "  gpusizer advise demo.json --dataset-samples 60000 --epochs 20 --as c7i.xlarge\n";
  return 0;
}

}  // namespace gpusizer::cli
