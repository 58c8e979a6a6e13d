// SPDX-License-Identifier: Apache-2.0
// Looking things up in a step program, and checking that it is one.
#include "workloads/program/program.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gpusizer/error.hpp"
#include "workloads/program/operations.hpp"

namespace gpusizer {

const Tensor* Program::find(std::string_view tensor_name) const {
  const auto it = std::ranges::find(tensors, tensor_name, &Tensor::name);
  return it == tensors.end() ? nullptr : &*it;
}

std::vector<std::vector<int32_t>> readers(const Program& program) {
  std::vector<std::vector<int32_t>> result(program.tensors.size());
  for (size_t op = 0; op < program.operations.size(); ++op)
    for (const TensorId id : program.operations[op].inputs) {
      auto& list = result[static_cast<size_t>(id.index)];
      if (list.empty() || list.back() != static_cast<int32_t>(op)) list.push_back(static_cast<int32_t>(op));
    }
  return result;
}

std::vector<int32_t> writers(const Program& program) {
  std::vector<int32_t> result(program.tensors.size(), -1);
  for (size_t op = 0; op < program.operations.size(); ++op)
    for (const TensorId id : program.operations[op].outputs)
      if (auto& first = result[static_cast<size_t>(id.index)]; first < 0) first = static_cast<int32_t>(op);
  return result;
}

namespace {

bool starts_known(const Tensor& tensor) { return tensor.role == Role::input || is_persistent(tensor.role); }

void require_exists(const Program& program, const Operation& op, TensorId id, const char* does) {
  if (id.index < 0 || static_cast<size_t>(id.index) >= program.tensors.size())
    throw Error(Fault::usage, fmt::format("{} {} a tensor that does not exist", operation_name(op.kind), does), op.layer);
}

void require_known(const Program& program, const Operation& op, TensorId id, const std::vector<bool>& known) {
  require_exists(program, op, id, "reads");
  if (!known[static_cast<size_t>(id.index)])
    throw Error(Fault::usage,
                fmt::format("{} reads {} before it is written", operation_name(op.kind), program.tensor(id).name),
                op.layer);
}

}  // namespace

void check_program(const Program& program) {
  std::vector<bool> known(program.tensors.size());
  for (const Tensor& t : program.tensors) known[static_cast<size_t>(t.id.index)] = starts_known(t);
  for (const Operation& op : program.operations) {
    for (const TensorId id : op.inputs) require_known(program, op, id, known);
    for (const TensorId id : op.outputs) {
      require_exists(program, op, id, "writes");
      const bool in_place = std::ranges::count(op.inputs, id) > 0;
      if (known[static_cast<size_t>(id.index)] && !(in_place && is_persistent(program.tensor(id).role)))
        throw Error(Fault::usage, fmt::format("{} writes {} a second time", operation_name(op.kind),
                                              program.tensor(id).name), op.layer);
      known[static_cast<size_t>(id.index)] = true;
    }
  }
}

}  // namespace gpusizer
