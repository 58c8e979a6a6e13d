// SPDX-License-Identifier: Apache-2.0
// Rebuilds a program with a builder, which checks every shape anew.
#include "workloads/transforms/program_copy.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gpusizer/error.hpp"
#include "workloads/program/part.hpp"

namespace gpusizer {

ProgramCopy::ProgramCopy(const Program& from, const std::string& what) : from_(from), builder_(from.name, from.batch) {
  const auto is_forward = [](const Operation& op) {
    return op.phase == Phase::forward || op.phase == Phase::communicate;
  };
  if (!std::ranges::all_of(from.operations, is_forward) ||
      std::ranges::any_of(from.tensors, [](const Tensor& t) { return t.role == Role::gradient; }))
    throw Error(Fault::usage, fmt::format("{} must come before the program is differentiated", what), from.name);
  for (const Tensor& t : from.tensors)
    if (t.role == Role::input || t.role == Role::scalar) at(t.id);
}

TensorId ProgramCopy::at(TensorId original) {
  const auto known = place_.find(original);
  if (known != place_.end()) return known->second;
  const Tensor& t = from_.tensor(original);
  TensorId id;
  if (t.role == Role::input) {
    id = builder_.input(t.name, t.shape, t.dtype);
  } else if (t.role == Role::scalar) {
    id = builder_.scalar(t.name, t.initial.value, t.dtype, t.shape);
  } else if (is_persistent(t.role)) {
    const auto part = parts_.find(original);
    const Shape shape = part == parts_.end() ? t.shape : part_shape(part->second);
    id = builder_.persistent(t.name, shape, t.role, t.initial, t.dtype);
    if (part != parts_.end())
      made_[id] = part->second;
    else if (t.part)
      made_[id] = *t.part;
  } else {
    throw Error(Fault::failed, fmt::format("'{}' is read before it is made", t.name), from_.name);
  }
  return place_[original] = id;
}

void ProgramCopy::copy(const Operation& op, Attributes attributes) {
  std::vector<TensorId> inputs;
  for (const TensorId id : op.inputs) inputs.push_back(at(id));
  const auto outputs = builder_.apply(op.kind, op.layer, std::move(inputs), std::move(attributes), op.phase);
  for (size_t i = 0; i < outputs.size(); ++i) place_[op.outputs.at(i)] = outputs[i];
}

Program ProgramCopy::finish() {
  if (from_.loss.index >= 0)
    builder_.set_loss(at(from_.loss), from_.correct.index >= 0 ? at(from_.correct) : TensorId{});
  for (ProgramOutput out : from_.outputs) {
    out.value = at(out.value);
    if (out.count.index >= 0) out.count = at(out.count);
    builder_.add_output(out);
  }
  Program program = builder_.finish();
  for (auto& [id, part] : made_) program.tensor(id).part = std::move(part);
  return program;
}

}  // namespace gpusizer
