// SPDX-License-Identifier: Apache-2.0
// From a forward program and a case's settings to its training step.
#pragma once

#include "bench/run_config/run_config.hpp"
#include "workloads/program/program.hpp"

namespace gpusizer {

// Differentiates the forward program, repeats it for `micro_batches`, takes it to the case's precision and adds its
// optimizer. `forward` is of one micro-batch; Program.batch of the result is `micro_batches` times its batch.
Program training_step(const CaseConfig& config, const Program& forward, std::int64_t micro_batches);

// Evaluation in the case's precision.
Program evaluation_step(const CaseConfig& config, Program forward);

}  // namespace gpusizer
