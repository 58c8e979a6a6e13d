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

// The same for the parameters: what local SGD runs after every K steps (Stich, 2019). Optimizer state stays each rank's.
std::optional<Program> average_parameters(const Program& training, int32_t rank, const std::vector<int32_t>& ranks);

}  // namespace gpusizer
