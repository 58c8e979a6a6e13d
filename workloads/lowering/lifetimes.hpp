// SPDX-License-Identifier: Apache-2.0
// What lives in memory within one step, and from when to when: tensors that do not persist, and workspaces.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/lowering/happens_before.hpp"
#include "workloads/lowering/lowered_program.hpp"

namespace gpusizer {

// One stretch of memory with the operations that use it: those from its writer to its last readers.
struct Block {
  int32_t tensor = -1;     // or -1: the workspace of `operation`
  int32_t operation = -1;
  int64_t bytes = 0;
  int32_t writer = -1;            // -1: holds its value before the step starts (an input)
  bool outlives_step = false;     // read after the step
  std::vector<int32_t> last_use;  // by stream: number of the last operation that uses it there; -1 for none
};

// Blocks with bytes, tensors first; no workspaces that persist. Inputs are there from the start; the results of the step (see results()) to its end.
std::vector<Block> blocks(const LoweredProgram& lowered, const HappensBefore& order);

// Whether all uses of `a` are certain to be done before `b` is written.
bool done_before(const Block& a, const Block& b, const HappensBefore& order);

// The blocks in use while an operation runs, in list order.
std::vector<Block> blocks_alive(const LoweredProgram& lowered, int32_t op);

// Bytes in use while each operation runs, in list order and with persistent tensors left out: no plan can do with less
// than the largest.
std::vector<int64_t> live_bytes(const LoweredProgram& lowered);

}  // namespace gpusizer
