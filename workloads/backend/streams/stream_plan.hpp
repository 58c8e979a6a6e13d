// SPDX-License-Identifier: Apache-2.0
// What each operation of a program waits for when computation and communication go on side by side.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "workloads/lowering/happens_before.hpp"

namespace gpusizer {

// By stream: how many of its operations must be done.
using StreamCounts = std::array<int32_t, stream_limit>;

// As HappensBefore has it. Since the operations of a stream run in order, one number for each stream says it all.
struct StreamPlan {
  struct Step {
    int32_t operation;   // index in the program
    StreamCounts needs;  // of other streams: done before it starts
    bool waits;          // computation: for communication that those before it did not wait for
    bool awaited;        // computation: communication waits for it
  };
  std::array<std::vector<Step>, stream_limit> streams;
  StreamCounts totals{};  // operations of each stream

  bool communicates() const;
};

StreamPlan stream_plan(const Program& program);

}  // namespace gpusizer
