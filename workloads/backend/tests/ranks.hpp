// SPDX-License-Identifier: Apache-2.0
// Several ranks in one test: a thread and a communicator each.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "workloads/backend/communicator/communicator.hpp"

namespace gpusizer {

// Runs `body` once for each rank, all at the same time, and returns what each of them threw; "" for nothing.
// A rank whose body ends, one way or the other, leaves the group, so that nobody waits for it longer.
std::vector<std::string> errors_of_ranks(int count, const std::function<void(Communicator&)>& body);

// The same where nothing may go wrong: fails the running test otherwise.
void on_ranks(int count, const std::function<void(Communicator&)>& body);

}  // namespace gpusizer
