// SPDX-License-Identifier: Apache-2.0
// Which operations are certain to be done before another one starts, when operations run on one or several streams.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "workloads/program/program.hpp"

namespace gpusizer {

// What computes, what ranks do together, and messages in each direction: the four go on side by side.
inline constexpr int32_t compute_stream = 0, collective_stream = 1, send_stream = 2, receive_stream = 3;
inline constexpr int32_t stream_limit = 4;
int32_t stream_of(OpKind kind);
// Whether what the operation has started goes on when its step is over: its workspace belongs to no step.
bool goes_on_between_steps(OpKind kind);
// The stream on which each operation runs.
std::vector<int32_t> streams_of(const Program& program);

// Operations of one stream run in list order. Across streams an operation waits for those that made what it reads,
// and for those that still read or wrote what it overwrites. A receive also waits for the computation that is listed
// before it, so that what it brings can lie where something was before, and for the sends that its message is an answer
// to (MessageAttributes), so that what was sent need not be kept longer. Nothing else is certain.
// Kept as vector clocks (Fidge 1988, Mattern 1989): for each operation, how many of each stream are done when it starts.
class HappensBefore {
 public:
  HappensBefore(const Program& program, std::span<const int32_t> streams);

  size_t stream_count() const { return stream_count_; }
  int32_t stream(int32_t op) const { return streams_[static_cast<size_t>(op)]; }
  // The operation's number within its stream, from 0.
  int32_t number(int32_t op) const { return numbers_[static_cast<size_t>(op)]; }
  // How many operations of a stream are certainly done when `op` starts.
  int32_t done_before(int32_t op, size_t stream) const { return clocks_[static_cast<size_t>(op) * stream_count_ + stream]; }

 private:
  void join(size_t op, size_t earlier);

  size_t stream_count_ = 1;
  std::vector<int32_t> streams_, numbers_;
  std::vector<int32_t> clocks_;  // by operation, then stream
};

}  // namespace gpusizer
