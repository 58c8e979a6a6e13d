// SPDX-License-Identifier: Apache-2.0
// The rules of an inference case, and the training that it may ask for.
#pragma once

#include "bench/run_config/run_config.hpp"

namespace gpusizer {

// Refuses what belongs to the other mode. Throws Error(usage).
void check_mode(const CaseConfig& config);

// complete_case() for mode "infer": what a training needs is filled as for one of its own, at the training's batch.
CaseConfig complete_inference(CaseConfig config);

// The training that a complete inference case asks for: FP32, at its own batch, without evaluations.
CaseConfig training_of(CaseConfig config);

}  // namespace gpusizer
