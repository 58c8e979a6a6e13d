// SPDX-License-Identifier: Apache-2.0
// The subcommands of `gpusizer history`. To add one: a run function in a file beside this, a line in history_command.cpp.
#pragma once

#include <string>

#include "bench/cli/command.hpp"
#include "bench/cli/options.hpp"

namespace gpusizer::cli {

inline constexpr const char* kHistoryFolder = "gpusizer-history";

void add_history_flags(Options& options);  // --dir, --branch
std::string history_folder(const Options& options);
std::string history_branch(const Options& options);

int history_add(const Arguments& arguments);
int history_show(const Arguments& arguments);
int history_check(const Arguments& arguments);
int history_prune(const Arguments& arguments);
int history_accept(const Arguments& arguments);
int history_rebuild(const Arguments& arguments);

}  // namespace gpusizer::cli
