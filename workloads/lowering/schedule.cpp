// SPDX-License-Identifier: Apache-2.0
// Dead operations out, updates as early as they may be.
#include "workloads/lowering/schedule.hpp"

#include <algorithm>
#include <numeric>

#include "workloads/lowering/happens_before.hpp"
#include "workloads/lowering/rewriter.hpp"
#include "workloads/program/operations.hpp"

namespace gpusizer {

std::vector<TensorId> results(const Program& program) {
  std::vector<TensorId> list;
  for (const TensorId id : {program.loss, program.correct})
    if (id.index >= 0) list.push_back(id);
  for (const ProgramOutput& out : program.outputs)
    for (const TensorId id : {out.value, out.count})
      if (id.index >= 0) list.push_back(id);
  const auto updates = [](const Operation& op) { return op.phase == Phase::update; };
  if (std::ranges::any_of(program.operations, updates)) return list;
  const auto read_by = readers(program);
  for (const Operation& op : program.operations)
    for (const TensorId id : op.outputs)
      if (program.tensor(id).role == Role::gradient && read_by[static_cast<size_t>(id.index)].empty())
        list.push_back(id);
  return list;
}

void drop_unused_operations(Program& program) {
  std::vector<bool> needed(program.tensors.size(), false);
  for (const Tensor& t : program.tensors) needed[static_cast<size_t>(t.id.index)] = is_persistent(t.role);
  for (const TensorId id : results(program)) needed[static_cast<size_t>(id.index)] = true;
  const auto is_needed = [&](TensorId id) { return needed[static_cast<size_t>(id.index)]; };
  std::vector<int32_t> kept;
  for (auto i = static_cast<int32_t>(program.operations.size()); i-- > 0;) {
    const Operation& op = program.operations[static_cast<size_t>(i)];
    if (!std::ranges::any_of(op.outputs, is_needed) && !rule(op.kind).reaches_others) continue;
    kept.push_back(i);
    for (const TensorId id : op.inputs) needed[static_cast<size_t>(id.index)] = true;
  }
  std::ranges::reverse(kept);
  if (!kept.empty()) reorder(program, kept);
}

namespace {

bool shares(const std::vector<TensorId>& a, const std::vector<TensorId>& b) {
  return std::ranges::any_of(a, [&](TensorId id) { return std::ranges::count(b, id) > 0; });
}

bool must_wait(const Operation& later, const Operation& earlier) {
  return shares(earlier.outputs, later.inputs) || shares(earlier.inputs, later.outputs) ||
         shares(earlier.outputs, later.outputs);
}

}  // namespace

void update_early(Program& program) {
  const auto count = static_cast<int32_t>(program.operations.size());
  std::vector<int32_t> place(static_cast<size_t>(count));  // an update's: that of the operation it follows
  std::iota(place.begin(), place.end(), 0);
  for (int32_t i = 0; i < count; ++i) {
    const Operation& op = program.operations[static_cast<size_t>(i)];
    if (op.phase != Phase::update) continue;
    int32_t after = -1;
    for (int32_t j = 0; j < i; ++j) {
      const Operation& earlier = program.operations[static_cast<size_t>(j)];
      if (!must_wait(op, earlier)) continue;
      // Other ranks take their time: computation goes on meanwhile, and the update stays where it is.
      after = stream_of(earlier.kind) == compute_stream ? std::max(after, place[static_cast<size_t>(j)]) : i;
      if (after == i) break;
    }
    place[static_cast<size_t>(i)] = after;
  }
  std::vector<int32_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](int32_t i) { return place[static_cast<size_t>(i)]; });
  reorder(program, order);
}

}  // namespace gpusizer
