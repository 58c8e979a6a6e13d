// SPDX-License-Identifier: Apache-2.0
// The rules of a case's layout over ranks.
#pragma once

#include "bench/run_config/run_config.hpp"

namespace gpusizer {

// Makes `devices` and the three factors agree. Throws Error(usage) where they cannot.
void resolve_layout(ParallelOptions& options);

// What follows from the layout, before the recipe: the part of a job's batch that each replica has; and in a sweep, what
// belongs to many ranks is taken away from its case of one.
void fill_parallel(CaseConfig& config);

// Refuses what no transform could do, with the reason. Of a case that is filled. Throws Error(usage).
void check_parallel(const CaseConfig& config);

// Answering requests is not spread over ranks. Throws Error(usage).
void refuse_parallel_inference(const CaseConfig& config);

}  // namespace gpusizer
