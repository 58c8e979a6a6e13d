// SPDX-License-Identifier: Apache-2.0
// Where and when in a pipeline each operation of an unrolled step runs: its stage, its micro-batch, its direction.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "workloads/program/program.hpp"
#include "workloads/transforms/pipeline_plan.hpp"

namespace gpusizer {

// The work of one stage on one micro-batch in one direction.
struct PipelineJob {
  bool backward = false;
  int32_t micro_batch = 0;
  friend auto operator<=>(const PipelineJob&, const PipelineJob&) = default;
};

struct PipelinePlace {
  static constexpr int32_t everywhere = -1;
  // `everywhere`: it depends on no activation, and is repeated on each stage that needs it.
  int32_t stage = everywhere;
  PipelineJob job{};  // of an operation that is everywhere: meaningless
  bool early = false;  // everywhere: a mere number, which goes to the front of the step
};

// One for each operation of the program.
std::vector<PipelinePlace> pipeline_places(const Program& program, const PipelinePlan& plan);

// Micro-batches of the program.
int32_t micro_batch_count(const std::vector<PipelinePlace>& places);

}  // namespace gpusizer
