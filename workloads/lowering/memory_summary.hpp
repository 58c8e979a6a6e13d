// SPDX-License-Identifier: Apache-2.0
// What a step's memory is made of, for people: by kind of content, at the moment when it needs the most.
#pragma once

#include <cstdint>
#include <string>

#include "workloads/lowering/lowered_program.hpp"
#include "workloads/lowering/memory_plan.hpp"

namespace gpusizer {

struct MemorySummary {
  int64_t parameter_bytes = 0;
  int64_t optimizer_state_bytes = 0;
  int64_t state_bytes = 0;  // running statistics and scalars
  // Alive at the same time as the peak operation:
  int64_t input_bytes = 0;
  int64_t activation_bytes = 0;  // with what forward operations saved
  int64_t gradient_bytes = 0;
  int64_t workspace_bytes = 0;
  int64_t gap_bytes = 0;   // between and behind tensors: alignment and what no tensor fits into
  int64_t peak_bytes = 0;  // all of the above together: the plan for this program alone
  int32_t peak_operation = -1;  // index; -1 for a program without operations
  std::string peak_name;        // "batch_norm_backward 'layer1.0.bn3'"
};

// Plans the program's memory and takes it apart.
MemorySummary memory_summary(const LoweredProgram& lowered);

}  // namespace gpusizer
