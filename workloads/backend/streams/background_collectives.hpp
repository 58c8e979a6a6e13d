// SPDX-License-Identifier: Apache-2.0
// Collectives that go on while later steps are computed.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/backend/communicator/collectives.hpp"

namespace gpusizer {

// One at a time, in the order in which they were posted: the order that all ranks share. Whoever moves the messages of
// the steps moves these too (StreamRunner); one thread at a time.
class BackgroundCollectives {
 public:
  // The run must stay where it is until it has finished. Steps never go back while anything is under way.
  void post(CollectiveRun& run, int64_t step);
  // Whether all that were posted in that step or before have finished.
  bool finished(int64_t step) const { return posted_.empty() || posted_.front().step > step; }
  bool idle() const { return posted_.empty(); }
  // Moves the first one on; true when it has finished. Throws CommunicationError.
  bool advance();

 private:
  struct Posted {
    CollectiveRun* run;
    int64_t step;
  };
  std::vector<Posted> posted_;  // the first one has been started; few, and no step allocates
};

}  // namespace gpusizer
