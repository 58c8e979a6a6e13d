// SPDX-License-Identifier: Apache-2.0
// Where a rank stands in a layout, and with which other ranks it shares what.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/run_config/run_config.hpp"

namespace gpusizer {

// World rank = (replica * pp + stage) * tp + slice.
struct RankPlace {
  std::int32_t rank = 0;
  std::int64_t replica = 0, stage = 0, slice = 0;
};

// Throws Error(usage) for a rank that the layout does not have.
RankPlace place_of(const ParallelOptions& layout, std::int64_t rank);

// World ranks, ascending, `place`'s own among them:
std::vector<std::int32_t> replica_ranks(const ParallelOptions& layout, const RankPlace& place);  // same stage and slice
std::vector<std::int32_t> stage_ranks(const ParallelOptions& layout, const RankPlace& place);    // of replica and slice
std::vector<std::int32_t> slice_ranks(const ParallelOptions& layout, const RankPlace& place);    // of replica and stage
std::vector<std::int32_t> model_ranks(const ParallelOptions& layout, const RankPlace& place);    // of the replica
std::vector<std::int32_t> all_ranks(const ParallelOptions& layout);

// Samples of one step of all replicas.
std::int64_t whole_batch(const CaseConfig& config);

// "rank 3 (replica 1, stage 0, slice 1)", with as many words as the layout needs.
std::string rank_text(const ParallelOptions& layout, std::int64_t rank);

}  // namespace gpusizer
