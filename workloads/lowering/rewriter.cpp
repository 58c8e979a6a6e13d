// SPDX-License-Identifier: Apache-2.0
// The bookkeeping behind a rewrite.
#include "workloads/lowering/rewriter.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace gpusizer {

void reorder(Program& program, const std::vector<int32_t>& order) {
  std::vector<int32_t> place(program.operations.size(), -1);
  for (size_t i = 0; i < order.size(); ++i) place[static_cast<size_t>(order[i])] = static_cast<int32_t>(i);
  std::vector<Operation> operations;
  operations.reserve(order.size());
  for (const int32_t index : order) {
    Operation& op = operations.emplace_back(std::move(program.operations[static_cast<size_t>(index)]));
    if (op.forward_op >= 0) op.forward_op = place[static_cast<size_t>(op.forward_op)];
  }
  program.operations = std::move(operations);
}

Rewriter::Rewriter(Program& program) : program_(program), merged_(program.operations.size()) {
  std::iota(merged_.begin(), merged_.end(), 0);
  count();
}

// Anew after each change: programs have hundreds of operations and rewrites are few, so clarity wins.
void Rewriter::count() {
  writers_.assign(program_.tensors.size(), -1);
  readers_.assign(program_.tensors.size(), {});
  for (int32_t i = 0; i < size(); ++i) {
    if (removed(i)) continue;
    for (const TensorId id : operation(i).outputs)
      if (int32_t& first = writers_[static_cast<size_t>(id.index)]; first < 0) first = i;
    for (const TensorId id : operation(i).inputs) {
      auto& list = readers_[static_cast<size_t>(id.index)];
      if (list.empty() || list.back() != i) list.push_back(i);
    }
  }
}

int32_t Rewriter::only_reader(TensorId id) const {
  const auto is_output = [&](const ProgramOutput& out) { return out.value == id || out.count == id; };
  const bool result = id == program_.loss || id == program_.correct || std::ranges::any_of(program_.outputs, is_output);
  return result || readers(id).size() != 1 ? -1 : readers(id)[0];
}

int32_t Rewriter::backward(int32_t forward_op, OpKind kind) const {
  int32_t found = -1;
  for (int32_t i = 0; i < size(); ++i) {
    if (removed(i) || operation(i).kind != kind || operation(i).forward_op != forward_op) continue;
    if (found >= 0) return -1;
    found = i;
  }
  return found;
}

bool Rewriter::may_move(int32_t index, int32_t to) const {
  const auto has = [&](const std::vector<TensorId>& list, TensorId id) {
    return is_persistent(program_.tensor(id).role) && std::ranges::count(list, id) > 0;
  };
  const Operation& op = operation(index);
  for (int32_t i = std::min(index, to); i <= std::max(index, to); ++i) {
    if (i == index || removed(i)) continue;
    for (const TensorId id : operation(i).outputs)
      if (has(op.inputs, id) || has(op.outputs, id)) return false;
    for (const TensorId id : operation(i).inputs)
      if (has(op.outputs, id)) return false;
  }
  return true;
}

void Rewriter::replace(int32_t index, Operation operation) {
  program_.operations[static_cast<size_t>(index)] = std::move(operation);
  count();
}

void Rewriter::merge(int32_t index, int32_t into) {
  merged_[static_cast<size_t>(index)] = into;
  for (Operation& op : program_.operations)
    if (op.forward_op == index) op.forward_op = into;
  count();
}

void Rewriter::finish() {
  std::vector<int32_t> kept;
  for (int32_t i = 0; i < size(); ++i)
    if (!removed(i)) kept.push_back(i);
  reorder(program_, kept);
  merged_.resize(kept.size());
  std::iota(merged_.begin(), merged_.end(), 0);
  count();
}

int rewrite_each(Program& program, OpKind kind, bool (*fuse)(Rewriter& rewriter, int32_t index)) {
  Rewriter rewriter{program};
  int count = 0;
  for (int32_t i = 0; i < rewriter.size(); ++i)
    if (!rewriter.removed(i) && rewriter.operation(i).kind == kind && fuse(rewriter, i)) ++count;
  rewriter.finish();
  return count;
}

}  // namespace gpusizer
