// SPDX-License-Identifier: Apache-2.0
// Finds the first and the last use of what lives within a step.
#include "workloads/lowering/lifetimes.hpp"

#include <algorithm>
#include <utility>

#include "workloads/lowering/schedule.hpp"

namespace gpusizer {

namespace {

void use(Block& block, int32_t op, const HappensBefore& order) {
  int32_t& last = block.last_use[static_cast<size_t>(order.stream(op))];
  last = std::max(last, order.number(op));
}

Block tensor_block(const LoweredProgram& lowered, int32_t tensor, int32_t writer, const std::vector<int32_t>& read_by,
                   const HappensBefore& order) {
  Block block{.tensor = tensor, .bytes = lowered.tensor_bytes[static_cast<size_t>(tensor)], .writer = writer,
              .last_use = std::vector<int32_t>(order.stream_count(), -1)};
  if (writer >= 0) use(block, writer, order);
  for (const int32_t op : read_by) use(block, op, order);
  return block;
}

}  // namespace

std::vector<Block> blocks(const LoweredProgram& lowered, const HappensBefore& order) {
  const Program& p = lowered.program;
  const auto read_by = readers(p);
  const auto written_by = writers(p);
  const auto kept = results(p);
  std::vector<Block> list;
  for (const Tensor& t : p.tensors) {
    const auto i = static_cast<size_t>(t.id.index);
    if (lowered.tensor_bytes[i] == 0 || is_persistent(t.role)) continue;
    list.push_back(tensor_block(lowered, t.id.index, written_by[i], read_by[i], order));
    list.back().outlives_step = std::ranges::count(kept, t.id) > 0;
  }
  for (int32_t op = 0; op < static_cast<int32_t>(p.operations.size()); ++op) {
    const int64_t bytes = lowered.workspace_bytes[static_cast<size_t>(op)];
    if (bytes == 0 || goes_on_between_steps(p.operations[static_cast<size_t>(op)].kind)) continue;
    list.push_back({.operation = op, .bytes = bytes, .writer = op,
                    .last_use = std::vector<int32_t>(order.stream_count(), -1)});
    use(list.back(), op, order);
  }
  return list;
}

bool done_before(const Block& a, const Block& b, const HappensBefore& order) {
  if (a.outlives_step || b.writer < 0) return false;
  for (size_t s = 0; s < order.stream_count(); ++s)
    if (a.last_use[s] >= order.done_before(b.writer, s)) return false;
  return true;
}

namespace {

// First operation while which a block is in use, and the one after the last.
std::pair<int32_t, int32_t> in_list_order(const Block& block, int32_t operation_count) {
  return {std::max(block.writer, 0), block.outlives_step ? operation_count : block.last_use[0] + 1};
}

std::vector<Block> blocks_of_one_stream(const LoweredProgram& lowered) {
  const std::vector<int32_t> one_stream(lowered.program.operations.size(), 0);
  return blocks(lowered, HappensBefore{lowered.program, one_stream});
}

}  // namespace

std::vector<Block> blocks_alive(const LoweredProgram& lowered, int32_t op) {
  std::vector<Block> list = blocks_of_one_stream(lowered);
  std::erase_if(list, [&](const Block& block) {
    const auto [first, end] = in_list_order(block, static_cast<int32_t>(lowered.program.operations.size()));
    return op < first || op >= end;
  });
  return list;
}

std::vector<int64_t> live_bytes(const LoweredProgram& lowered) {
  const size_t count = lowered.program.operations.size();
  std::vector<int64_t> live(count, 0);
  for (const Block& block : blocks_of_one_stream(lowered)) {
    const auto [first, end] = in_list_order(block, static_cast<int32_t>(count));
    for (int32_t op = first; op < end; ++op) live[static_cast<size_t>(op)] += block.bytes;
  }
  return live;
}

}  // namespace gpusizer
