// SPDX-License-Identifier: Apache-2.0
// What a run has measured so far, as named lists of numbers that a checkpoint can hold.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "bench/runner/measuring_loop.hpp"

namespace gpusizer {

using History = std::map<std::string, std::vector<double>>;

// Steps, losses and evaluations. Every number comes back as it was.
History history_of(const LoopResult& result);

// As bytes that another rank can read back.
std::string packed(const History& history);
History unpacked(const std::string& bytes);

// The inverse of history_of(), for a result without steps. Throws Error(input) naming `file` when the lists do not belong together.
LoopResult result_of(const History& history, const std::string& file);

}  // namespace gpusizer
