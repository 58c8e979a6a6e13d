// SPDX-License-Identifier: Apache-2.0
// What `gpusizer run` accepts, and what it asks the runner for.
#pragma once

#include "bench/cli/options.hpp"
#include "bench/runner/run.hpp"

namespace gpusizer::cli {

Options run_options();

// The request of parsed options; `words` are what they were parsed from. With --resume that of the report's own command,
// in another layout over ranks where one is given. Throws Error.
RunRequest request_of(const Options& options, const Arguments& words);

}  // namespace gpusizer::cli
