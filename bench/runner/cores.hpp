// SPDX-License-Identifier: Apache-2.0
// Processor cores: which this process may use, and binding a thread to some of them.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace gpusizer {

// Their numbers, ascending; at least one.
std::vector<int> usable_cores();

// The part of one of `parts` that share them as evenly as can be, in order; where there are fewer than parts, one core
// that others have too. Needs at least one core.
std::span<const int> part_of(std::span<const int> cores, int parts, int place);

// The calling thread, and those that it starts from now on, run on these only. Where the system does not let us, they
// stay where they are. No cores: nothing changes.
void bind_thread(std::span<const int> cores);

}  // namespace gpusizer
