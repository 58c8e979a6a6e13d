// SPDX-License-Identifier: Apache-2.0
// Whether a program is one that this rank of this world can run.
#pragma once

#include "workloads/backend/communicator/communicator.hpp"
#include "workloads/program/program.hpp"

namespace gpusizer {

// Throws Error(usage), naming the operation, where a program communicates and there is no communicator, where it was
// made for another rank, or where it names ranks that do not exist.
void check_ranks(const Program& program, const Communicator* communicator);

}  // namespace gpusizer
