// SPDX-License-Identifier: Apache-2.0
// What each rank of a training case does, from compiling to the last figure.
#pragma once

#include <string>

#include "bench/runner/measuring_loop.hpp"
#include "bench/runner/prepared_case.hpp"
#include "reports/record/record.hpp"

namespace gpusizer {

class Communicator;

struct TrainingContext {
  std::string case_id;
  StopRequested stop;
  LoopProgress progress;
  bool resumed = false;  // go on from a checkpoint where there is one
};

// On rank 0, or the only one (then `others` is nullptr): trains and measures, and fills the figures of `record` and
// `result`, which has what was done even when this throws. `rank` is one of those of `prepared`.
void lead_training(record::Case& record, const PreparedCase& prepared, PreparedRank& rank, Communicator* others,
                   const TrainingContext& context, LoopResult& result);

// On all other ranks, at the same time: takes the same steps; its own times are in `result`.
void follow_training(const PreparedCase& prepared, PreparedRank& rank, Communicator& others,
                     const TrainingContext& context, LoopResult& result);

}  // namespace gpusizer
