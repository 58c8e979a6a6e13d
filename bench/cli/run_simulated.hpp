// SPDX-License-Identifier: Apache-2.0
// gpusizer run --device simulated:GPUxN: the report of a run that did not happen.
#pragma once

#include "bench/cli/options.hpp"

namespace gpusizer::cli {

// Whether the flags ask for it.
bool is_simulated(const Options& options);

// Simulates the one case that the flags describe, writes its report, and with --trace its step. The exit code is 4 where
// the case does not fit. Throws Error(usage) for suites and sweeps.
int run_simulated(const Options& options, const Arguments& words);

}  // namespace gpusizer::cli
