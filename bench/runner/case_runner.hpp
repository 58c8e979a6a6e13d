// SPDX-License-Identifier: Apache-2.0
// Runs one case from preparation to its record; whatever goes wrong becomes the record's status and reason.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "bench/run_config/run_config.hpp"
#include "bench/runner/lockstep.hpp"
#include "bench/runner/measuring_loop.hpp"
#include "bench/runner/prepared_case.hpp"
#include "reports/record/record.hpp"

namespace gpusizer {

// Told what is going on; all may be empty.
struct CaseProgress {
  std::function<void(const PreparedCase&)> prepared;  // about to compile and train
  std::function<void(const LoopPlan&, const LoopResult&)> step;
};

struct CaseContext {
  const record::Environment& environment;
  const record::Tool& tool;
  StopRequested stop;
  CaseProgress progress;
  bool first_case = true;  // of the process: its memory is nobody else's
  bool resumed = false;    // go on from a checkpoint where there is one
  Lockstep lockstep{};     // with the processes that run the case together with this one
  // Told when a signal has come and the case does not end: what the report should say if nothing else comes. May be empty.
  std::function<void(const record::Case&, const std::optional<MissingRank>&)> save_now{};
};

// On all processes, or on none.
PreparedCase prepare_together(const CaseConfig& config, const Lockstep& lockstep);

// Never throws for a fault of the case: it becomes failed, oom, invalid or interrupted. `prepared` may be handed in when
// it was made already (its config is the case's).
record::Case run_case(const CaseConfig& config, const std::string& id, const CaseContext& context,
                      std::optional<PreparedCase> prepared = std::nullopt);

// A case that was not started.
record::Case skipped_case(const CaseConfig& config, const std::string& id, const std::string& reason);

}  // namespace gpusizer
