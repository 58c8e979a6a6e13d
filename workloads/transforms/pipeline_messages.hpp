// SPDX-License-Identifier: Apache-2.0
// The order of a stage's jobs, and the messages that stages send each other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "workloads/transforms/pipeline.hpp"
#include "workloads/transforms/pipeline_places.hpp"

namespace gpusizer {

// The jobs of a stage in the order in which it does them.
std::vector<PipelineJob> job_order(PipelineSchedule schedule, int32_t stage, int32_t stages, int32_t micro_batches,
                                   bool with_backward);

// All that one job makes for one other stage.
struct StageMessage {
  int32_t from = 0, to = 0;          // stages
  PipelineJob job{};                 // that makes the contents
  std::vector<TensorId> contents{};  // in the order in which they are made
  size_t received_at = 0;            // the number of the receiving stage's job in front of which the receive stands
  int32_t sends_before = 0;  // how many of the receiving stage's messages the sending one needs for this job or before
};

struct PipelineReads {
  TensorId tensor;
  int32_t writer = 0;  // the operation that makes it
  int32_t stage = 0;   // that needs it
  PipelineJob job{};   // of that stage
};

// For each stage the messages that it receives, in order; those from one stage come in the order in which it sends
// them. A receive stands one job before that which needs it, so that the message travels while the stage computes.
std::vector<std::vector<StageMessage>> stage_messages(const std::vector<PipelineReads>& reads,
                                                      const std::vector<PipelinePlace>& places,
                                                      const std::vector<std::vector<PipelineJob>>& orders);

}  // namespace gpusizer
