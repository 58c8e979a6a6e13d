// SPDX-License-Identifier: Apache-2.0
// The table of commands. To add one: a file beside this one with a run function, and a line in the table of command.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpusizer::cli {

using Arguments = std::vector<std::string>;  // what follows the command's name

struct Command {
  std::string_view name;
  std::string_view summary;  // one line of `gpusizer help`
  int (*run)(const Arguments& arguments);  // returns the exit code; throws Error
};

std::span<const Command> commands();

// Throws Error(usage) naming the nearest command.
const Command& find_command(const std::string& name);

// The command line with a command in front: nothing and --help mean help, --version means version.
std::vector<std::string> as_command(std::vector<std::string> words);

// One for each command; each answers --help.
int run_command(const Arguments& arguments);
int advise_command(const Arguments& arguments);
int report_command(const Arguments& arguments);
int predict_command(const Arguments& arguments);
int import_command(const Arguments& arguments);
int backtest_command(const Arguments& arguments);
int compare_command(const Arguments& arguments);
int history_command(const Arguments& arguments);
int export_command(const Arguments& arguments);
int list_command(const Arguments& arguments);
int version_command(const Arguments& arguments);
int help_command(const Arguments& arguments);

}  // namespace gpusizer::cli
