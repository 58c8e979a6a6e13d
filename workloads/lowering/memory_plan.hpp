// SPDX-License-Identifier: Apache-2.0
// Where every tensor and workspace of a set of lowered programs lies in one arena, and how large the arena must be.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "workloads/lowering/lowered_program.hpp"

namespace gpusizer {

struct Placement {
  int64_t offset = 0;
  int64_t bytes = 0;  // 0: nothing is stored (an unused or a bound tensor)
};

struct ProgramPlacement {
  std::vector<Placement> tensors;     // by tensor of the program
  std::vector<Placement> workspaces;  // by operation
};

// One arena: first what persists from step to step, shared by the programs by tensor name, and one workspace for all sums
// that go on between steps; then what lives within a step, which the programs use in turn.
struct MemoryPlan {
  int64_t persistent_bytes = 0;
  int64_t transient_bytes = 0;
  int64_t alignment = 64;
  std::vector<ProgramPlacement> programs;

  int64_t peak_bytes() const { return persistent_bytes + transient_bytes; }
};

// Two tensors may share bytes when every reader of the one is certain to be done before the writer of the other starts.
// Persistent tensors of the same name must have the same bytes in all programs: Error(usage) naming the tensor otherwise.
MemoryPlan plan_memory(std::span<const LoweredProgram> programs);

// An independent proof: walks the programs and refuses, naming both tensors, any two that are alive at the same time
// and overlap, and any placement outside the arena or unaligned. Returns the faults found; empty means sound.
std::vector<std::string> check_plan(std::span<const LoweredProgram> programs, const MemoryPlan& plan);

}  // namespace gpusizer
