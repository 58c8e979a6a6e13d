// SPDX-License-Identifier: Apache-2.0
// Layouts, wires and faults as a person writes them on the command line, and in a case's id.
#pragma once

#include <string>

#include "bench/run_config/parallel.hpp"

namespace gpusizer {

// Each reads one flag's value and throws Error(usage) naming the flag.
// "dp=2,pp=2,tp=1" or, as in a case's id, "dp2pp2": what is not named is 1.
void read_layout(const std::string& text, ParallelOptions& options);
// "3,3,3,3": blocks in each stage.
void read_stages(const std::string& text, ParallelOptions& options);
// "latency=1ms,bandwidth=1Gb/s": either may be left out; s, ms, us and Gb/s, Mb/s, GB/s, MB/s; "none" takes it away.
void read_wire(const std::string& text, ParallelOptions& options);
// "throw@1:5": kind, rank, step; "none" takes it away.
void read_fault(const std::string& text, ParallelOptions& options);

// "dp2pp2": factors above 1; empty for one rank.
std::string layout_word(const ParallelOptions& options);
// "/dp2pp2/3-3/gpipe/sharded": all that departs from the usual; empty for the usual one rank.
std::string parallel_id_words(const ParallelOptions& options);

}  // namespace gpusizer
