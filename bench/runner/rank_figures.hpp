// SPDX-License-Identifier: Apache-2.0
// What the ranks of a case find out together once it is trained: whose steps were slow, what was waited for, how fast
// their sums alone are. Every function is called by all ranks at the same place.
#pragma once

#include <vector>

#include "bench/runner/executor_trainer.hpp"
#include "reports/record/record.hpp"

namespace gpusizer {

// Adds the other replicas' tokens to the steps of this process, the last ones of `result`.
void add_tokens_of_others(const ExecutorTrainer& trainer, LoopResult& result);

// Mean step of each rank and its waiting, over the steps of this process from `first` on.
record::Communication gather_rank_figures(const ExecutorTrainer& trainer, std::int64_t first);

// Bytes of gradients that each of the rank's collectives sums, in their order.
std::vector<std::int64_t> bucket_bytes(const Program& training);

// Each of the rank's sums of gradients alone, by size: the median of some repetitions, of the slowest of its ranks.
std::vector<record::AllReduceTime> measure_all_reduces(const PreparedCase& prepared, const Program& training,
                                                       Communicator& others);

// How long rank 0 should wait in a step, by the cost model: see modelled_exposure.hpp. Bytes take what they take on the
// simulated wire where there is one, else what measure_all_reduces() found. Needs the other figures.
void model_waiting(const PreparedCase& prepared, const Program& training, const PhaseSeconds& profile,
                   record::Communication& figures);

}  // namespace gpusizer
