// SPDX-License-Identifier: Apache-2.0
// The ranks of a case that are in this process: a thread for each, watched by the thread that started them.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/runner/lockstep.hpp"
#include "bench/runner/training_run.hpp"
#include "workloads/backend/communicator/communicator.hpp"

namespace gpusizer {

// Told by the watching thread.
struct TeamProgress {
  std::function<void(const LoopPlan&, const LoopResult&)> step;
  // A signal came, and the case does not end quickly: others may be lost. With what was measured until now.
  std::function<void(const LoopResult&, const std::optional<MissingRank>&)> cut_short;
};

struct TeamRequest {
  std::string case_id;
  record::Case record;  // as far as it is filled
  StopRequested stop;
  TeamProgress progress;
  bool resumed = false;
  Lockstep lockstep{};  // this process is one rank of those that it joins; alone: all ranks are here
};

struct TeamOutcome {
  record::Case record;  // with the leader's figures, where rank 0 was here and all went well
  LoopResult result;    // of rank 0, or of the first rank here; after a fault what was finished
  std::exception_ptr error;  // nothing where all went well; names the rank and its step
};

// Runs the case on all ranks of `prepared` and returns when they have ended. A rank that throws or does not answer ends
// the others too, within --comm-timeout. A thread that is stuck for ever is left behind, with all that it uses: it
// belongs to no one else, and its memory is never given back.
TeamOutcome run_team(PreparedCase prepared, TeamRequest request);

}  // namespace gpusizer
