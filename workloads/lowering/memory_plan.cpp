// SPDX-License-Identifier: Apache-2.0
// Places persistent tensors one after the other, and the rest largest first, each at the lowest offset that is free.
#include "workloads/lowering/memory_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "gpusizer/error.hpp"
#include "workloads/lowering/lifetimes.hpp"

namespace gpusizer {

namespace {

int64_t aligned(int64_t bytes, int64_t alignment) { return (bytes + alignment - 1) / alignment * alignment; }

using Persistent = std::map<std::string, Placement>;

void place_persistent(const LoweredProgram& lowered, MemoryPlan& plan, Persistent& known, ProgramPlacement& placed) {
  for (const Tensor& t : lowered.program.tensors) {
    const int64_t bytes = lowered.tensor_bytes[static_cast<size_t>(t.id.index)];
    if (bytes == 0 || !is_persistent(t.role)) continue;
    const auto [it, is_new] = known.try_emplace(t.name, Placement{plan.persistent_bytes, bytes});
    if (is_new) plan.persistent_bytes += aligned(bytes, plan.alignment);
    if (it->second.bytes != bytes)
      throw Error(Fault::usage, fmt::format("tensor '{}' takes {} bytes in one program and {} in program '{}'", t.name,
                                            it->second.bytes, bytes, lowered.program.name));
    placed.tensors[static_cast<size_t>(t.id.index)] = it->second;
  }
}

// Sums that go on between steps are made one at a time.
void place_persistent_workspaces(std::span<const LoweredProgram> programs, MemoryPlan& plan) {
  int64_t most = 0;
  for (size_t i = 0; i < programs.size(); ++i)
    for (size_t op = 0; op < programs[i].program.operations.size(); ++op) {
      if (!goes_on_between_steps(programs[i].program.operations[op].kind)) continue;
      const int64_t bytes = programs[i].workspace_bytes[op];
      plan.programs[i].workspaces[op] = {plan.persistent_bytes, bytes};
      most = std::max(most, bytes);
    }
  plan.persistent_bytes += aligned(most, plan.alignment);
}

// The lowest offset at which `bytes` fit between what is taken; sorts `taken`.
int64_t lowest_gap(std::vector<Placement>& taken, int64_t bytes, int64_t alignment) {
  std::ranges::sort(taken, {}, &Placement::offset);
  int64_t offset = 0;
  for (const Placement& t : taken) {
    if (offset + bytes <= t.offset) break;
    offset = std::max(offset, aligned(t.offset + t.bytes, alignment));
  }
  return offset;
}

// Largest first; among equals the one written first, so that the plan is the same everywhere.
std::vector<size_t> by_size(const std::vector<Block>& list) {
  std::vector<size_t> order(list.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) {
    return std::pair(-list[a].bytes, list[a].writer) < std::pair(-list[b].bytes, list[b].writer);
  });
  return order;
}

// Offsets within the transient part, by block.
std::vector<int64_t> place_blocks(const std::vector<Block>& list, const HappensBefore& order, int64_t alignment) {
  std::vector<int64_t> offsets(list.size(), 0);
  std::vector<size_t> placed;
  std::vector<Placement> taken;
  for (const size_t i : by_size(list)) {
    taken.clear();
    for (const size_t other : placed)
      if (!done_before(list[i], list[other], order) && !done_before(list[other], list[i], order))
        taken.push_back({offsets[other], list[other].bytes});
    offsets[i] = lowest_gap(taken, list[i].bytes, alignment);
    placed.push_back(i);
  }
  return offsets;
}

void place_transient(const LoweredProgram& lowered, MemoryPlan& plan, ProgramPlacement& placed) {
  const HappensBefore order{lowered.program, streams_of(lowered.program)};
  const std::vector<Block> list = blocks(lowered, order);
  const std::vector<int64_t> offsets = place_blocks(list, order, plan.alignment);
  for (size_t i = 0; i < list.size(); ++i) {
    const Placement place{plan.persistent_bytes + offsets[i], list[i].bytes};
    (list[i].tensor >= 0 ? placed.tensors[static_cast<size_t>(list[i].tensor)]
                         : placed.workspaces[static_cast<size_t>(list[i].operation)]) = place;
    plan.transient_bytes = std::max(plan.transient_bytes, aligned(offsets[i] + list[i].bytes, plan.alignment));
  }
}

}  // namespace

MemoryPlan plan_memory(std::span<const LoweredProgram> programs) {
  MemoryPlan plan;
  Persistent known;
  for (const LoweredProgram& lowered : programs) {
    plan.programs.push_back({std::vector<Placement>(lowered.program.tensors.size()),
                             std::vector<Placement>(lowered.program.operations.size())});
    place_persistent(lowered, plan, known, plan.programs.back());
  }
  place_persistent_workspaces(programs, plan);
  for (size_t i = 0; i < programs.size(); ++i) place_transient(programs[i], plan, plan.programs[i]);
  return plan;
}

}  // namespace gpusizer
