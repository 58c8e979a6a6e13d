// SPDX-License-Identifier: Apache-2.0
// Sums up a step's memory.
#include "workloads/lowering/memory_summary.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "workloads/lowering/lifetimes.hpp"
#include "workloads/program/operations.hpp"

namespace gpusizer {

namespace {

int64_t& part(MemorySummary& s, Role role) {
  switch (role) {
    case Role::parameter: return s.parameter_bytes;
    case Role::optimizer_state: return s.optimizer_state_bytes;
    case Role::state:
    case Role::scalar: return s.state_bytes;
    case Role::input: return s.input_bytes;
    case Role::activation:
    case Role::saved: return s.activation_bytes;
    case Role::gradient: return s.gradient_bytes;
  }
  return s.state_bytes;
}

// Sums that go on between steps share one workspace.
int64_t persistent_workspace_bytes(const LoweredProgram& lowered) {
  int64_t most = 0;
  for (size_t op = 0; op < lowered.program.operations.size(); ++op)
    if (goes_on_between_steps(lowered.program.operations[op].kind)) most = std::max(most, lowered.workspace_bytes[op]);
  return most;
}

void add_living(MemorySummary& s, const LoweredProgram& lowered) {
  for (const Block& block : blocks_alive(lowered, s.peak_operation)) {
    if (block.tensor < 0) s.workspace_bytes += block.bytes;
    else part(s, lowered.program.tensors[static_cast<size_t>(block.tensor)].role) += block.bytes;
  }
}

}  // namespace

MemorySummary memory_summary(const LoweredProgram& lowered) {
  MemorySummary s;
  for (const Tensor& t : lowered.program.tensors)
    if (is_persistent(t.role)) part(s, t.role) += lowered.tensor_bytes[static_cast<size_t>(t.id.index)];
  s.workspace_bytes = persistent_workspace_bytes(lowered);
  if (const std::vector<int64_t> live = live_bytes(lowered); !live.empty()) {
    s.peak_operation = static_cast<int32_t>(std::ranges::max_element(live) - live.begin());
    const Operation& op = lowered.program.operations[static_cast<size_t>(s.peak_operation)];
    s.peak_name = fmt::format("{} '{}'", operation_name(op.kind), op.layer);
    add_living(s, lowered);
  }
  s.peak_bytes = plan_memory({&lowered, 1}).peak_bytes();
  s.gap_bytes = s.peak_bytes - s.parameter_bytes - s.optimizer_state_bytes - s.state_bytes - s.input_bytes -
                s.activation_bytes - s.gradient_bytes - s.workspace_bytes;
  return s;
}

}  // namespace gpusizer
