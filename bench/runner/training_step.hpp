// SPDX-License-Identifier: Apache-2.0
// From a model's forward program to the step that a rank of a case trains or evaluates with.
#pragma once

#include "bench/run_config/run_config.hpp"
#include "bench/runner/rank_place.hpp"
#include "workloads/program/program.hpp"
#include "workloads/transforms/pipeline_plan.hpp"

namespace gpusizer {

// What all steps of one rank have in common.
struct StepLayout {
  RankPlace place;
  PipelinePlan stages;  // where the layout has several
};

// What one step works on.
struct StepBatch {
  std::int64_t micro_batches = 1;
  std::int64_t samples = 0, whole_samples = 0;  // of the rank's replica, of all replicas
};

// The step of the unsplit model on one rank with its optimizer, as the facts of a case are counted; `forward` processes
// one micro-batch of several.
Program whole_training_step(const CaseConfig& config, const Program& forward, std::int64_t micro_batches);

// Where the layers of the model go, when `forward` is the whole model's program for training.
PipelinePlan pipeline_plan(const CaseConfig& config, const Program& forward);

// The same step as the rank runs it; `forward` is the whole model's program for one micro-batch of its replica.
// Throws Error(usage) for a layout that the model cannot have.
Program training_step(const CaseConfig& config, const Program& forward, const StepBatch& batch,
                      const StepLayout& layout);

// The rank's part of an evaluation by its replica alone.
Program evaluation_step(const CaseConfig& config, Program forward, const StepLayout& layout);

}  // namespace gpusizer
