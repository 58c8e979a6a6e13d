// SPDX-License-Identifier: Apache-2.0
// Ranks as threads of one process. A message is one copy, from the sender's buffer straight into the receiver's.
#pragma once

#include <memory>
#include <string>

#include "workloads/backend/communicator/communicator.hpp"

namespace gpusizer {

class ThreadGroupState;

// Owned by whoever starts the ranks. It may be destroyed before the communicators: what they share lives as long as the
// last of them, so that a rank that is stuck for ever can be left behind with its communicator.
class ThreadGroup {
 public:
  ThreadGroup(int size, double timeout_seconds);
  ~ThreadGroup();
  ThreadGroup(const ThreadGroup&) = delete;
  ThreadGroup& operator=(const ThreadGroup&) = delete;

  // Once for each rank, before or after others have begun. A communicator that goes away leaves the group: whoever
  // still waits for that rank gets a CommunicationError at once.
  std::unique_ptr<Communicator> join(int rank);

  // As Communicator::abort, by the owner.
  void abort(const std::string& reason);
  // The step that the rank is in, from 1; 0: it has not begun.
  int64_t step(int rank) const;
  // Why the group ended; empty while it has not.
  std::string failure() const;

 private:
  ThreadGroupState* state_;  // destroyed by the last that holds it
};

}  // namespace gpusizer
