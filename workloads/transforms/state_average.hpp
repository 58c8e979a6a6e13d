// SPDX-License-Identifier: Apache-2.0
// Programs that replace what each replica has by the mean over all of them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "workloads/program/program.hpp"

namespace gpusizer {

// The program that averages the training program's states (running statistics) over `ranks`, in place: for before
// evaluation and checkpoints. Nothing where there are none, or only one rank.
std::optional<Program> average_states(const Program& training, int32_t rank, const std::vector<int32_t>& ranks);

// The training step (after add_optimizer()) that then averages the parameters, too: what local SGD runs every K steps
// (Stich, "Local SGD converges fast and communicates little", 2019). Optimizer state stays each rank's own.
// `bucket_bytes`: how much goes in one collective, so that averaging begins while other parameters are still updated.
Program average_parameters(Program training, int32_t rank, const std::vector<int32_t>& ranks,
                           int64_t bucket_bytes = int64_t{25} << 20);

}  // namespace gpusizer
