// SPDX-License-Identifier: Apache-2.0
// Finds the first and the last use of what lives within a step.
#include "workloads/lowering/lifetimes.hpp"

#include <algorithm>

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
    if (bytes == 0) continue;
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

std::vector<int64_t> live_bytes(const LoweredProgram& lowered) {
  const size_t count = lowered.program.operations.size();
  const std::vector<int32_t> one_stream(count, 0);
  const HappensBefore order{lowered.program, one_stream};
  std::vector<int64_t> change(count + 1, 0);
  for (const Block& block : blocks(lowered, order)) {
    const auto first = static_cast<size_t>(std::max(block.writer, 0));
    const size_t end = block.outlives_step ? count : static_cast<size_t>(block.last_use[0] + 1);
    change[std::min(first, count)] += block.bytes;
    change[std::max(first, end)] -= block.bytes;
  }
  std::vector<int64_t> live(count);
  int64_t now = 0;
  for (size_t op = 0; op < count; ++op) live[op] = now += change[op];
  return live;
}

}  // namespace gpusizer
