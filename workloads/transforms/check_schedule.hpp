// SPDX-License-Identifier: Apache-2.0
// Whether the programs of several ranks fit together: proven by a simulated run, before anything runs.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "workloads/program/program.hpp"

namespace gpusizer {

// Program i is that of world rank i. Returns the faults as sentences; empty means that the step runs to its end.
//  - The members of a group run the same collectives in the same order: kind, ranks, owners, shapes, element types.
//  - Every send meets a receive of the same contents, in the order of the messages between those two ranks.
//  - No rank waits for ever, with computation, collectives, sends and receives side by side
//  (lowering/happens_before.hpp)
//    where a send is done only when it is received and a collective only when all have come to it; a sum that is told
//    some steps later waits for nobody. The sentence names the ranks, the operations and what each waits for.
std::vector<std::string> check_schedule(std::span<const Program> ranks);
// Throws Error(usage) with the first faults where there are any.
void require_schedule(std::span<const Program> ranks);

}  // namespace gpusizer
