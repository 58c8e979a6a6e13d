// SPDX-License-Identifier: Apache-2.0
// New operations are made at the end, where the builder puts them, and moved when all are there.
#include "workloads/transforms/insertion.hpp"

#include <algorithm>
#include <utility>

namespace gpusizer {

namespace {

void replace(TensorId& id, TensorId from, TensorId to) {
  if (id == from) id = to;
}

// `places`: of the operations from number places.begin() on, the operation that each follows.
void move_into_place(std::vector<Operation>& operations, const std::vector<int32_t>& places) {
  const size_t old_count = operations.size() - places.size();
  std::vector<std::pair<int32_t, size_t>> order;  // what it follows, and its index now
  for (size_t i = 0; i < operations.size(); ++i)
    order.emplace_back(i < old_count ? static_cast<int32_t>(i) : places[i - old_count], i);
  std::ranges::stable_sort(order, {}, &std::pair<int32_t, size_t>::first);
  std::vector<int32_t> moved(operations.size());
  std::vector<Operation> result;
  for (const auto& [place, index] : order) {
    moved[index] = static_cast<int32_t>(result.size());
    result.push_back(std::move(operations[index]));
  }
  for (Operation& op : result)
    if (op.forward_op >= 0) op.forward_op = moved[static_cast<size_t>(op.forward_op)];
  operations = std::move(result);
}

}  // namespace

Insertion::Insertion(Program program)
    : builder_(std::move(program)), operations_(builder_.program().operations), writers_(writers(builder_.program())) {}

std::vector<TensorId> Insertion::apply(int32_t place, OpKind kind, const std::string& layer,
                                       std::vector<TensorId> inputs, Attributes attributes, Phase phase) {
  places_.push_back(place);
  return builder_.apply(kind, layer, std::move(inputs), std::move(attributes), phase);
}

void Insertion::replace_input(int32_t place, TensorId from, TensorId to) { replacements_.push_back({place, from, to}); }

void Insertion::replace_everywhere(TensorId from, TensorId to) { replacements_.push_back({-1, from, to}); }

int32_t Insertion::writer(TensorId id) const {
  return static_cast<size_t>(id.index) < writers_.size() ? writers_[static_cast<size_t>(id.index)] : -1;
}

Program Insertion::finish() {
  Program program = builder_.program();
  for (const Replacement& r : replacements_) {
    for (size_t i = 0; i < operations_.size(); ++i)
      if (r.place < 0 || r.place == static_cast<int32_t>(i))
        for (TensorId& id : program.operations[i].inputs) replace(id, r.from, r.to);
    if (r.place >= 0) continue;
    replace(program.loss, r.from, r.to);
    replace(program.correct, r.from, r.to);
    for (ProgramOutput& out : program.outputs) {
      replace(out.value, r.from, r.to);
      replace(out.count, r.from, r.to);
    }
  }
  move_into_place(program.operations, places_);
  check_program(program);
  return program;
}

}  // namespace gpusizer
