// SPDX-License-Identifier: Apache-2.0
// Finds convolutions with a batch norm behind them, and multiplies the norm into their weights.
#include "workloads/transforms/fold_batch_norm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gpusizer/error.hpp"

namespace gpusizer {

const std::vector<float>& values_of(const TensorValues& values, std::string_view name) {
  const auto it = values.find(name);
  if (it == values.end()) throw Error(Fault::usage, fmt::format("the values of '{}' are not known", name));
  return it->second;
}

namespace {

// In double: each folded weight is rounded once.
void fold_values(const Program& p, const Operation& conv, const Operation& norm, TensorValues& values) {
  const auto of = [&](TensorId id) { return values_of(values, p.tensor(id).name); };
  const double epsilon = std::get<NormAttributes>(norm.attributes).epsilon;
  const auto scale = of(norm.inputs[1]), shift = of(norm.inputs[2]), mean = of(norm.inputs[3]),
             variance = of(norm.inputs[4]);
  std::vector<float> weight = of(conv.inputs[1]), bias(scale.size(), 0);
  if (conv.inputs.size() > 2) bias = of(conv.inputs[2]);
  const size_t each = weight.size() / scale.size();
  for (size_t k = 0; k < scale.size(); ++k) {
    const double factor = scale[k] / std::sqrt(double{variance[k]} + epsilon);
    for (size_t i = k * each; i < (k + 1) * each; ++i) weight[i] = static_cast<float>(factor * weight[i]);
    bias[k] = static_cast<float>(shift[k] + factor * (double{bias[k]} - mean[k]));
  }
  values[p.tensor(conv.inputs[1]).name + ":folded"] = std::move(weight);
  values[conv.layer + ".bias:folded"] = std::move(bias);
}

TensorId add_parameter(Program& p, const std::string& name, const Shape& shape) {
  const TensorId id{static_cast<int32_t>(p.tensors.size())};
  p.tensors.push_back({.id = id, .name = name, .shape = shape, .role = Role::parameter});
  return id;
}

bool folds(const Program& p, const std::vector<std::vector<int32_t>>& read_by, const Operation& conv) {
  if (conv.kind != OpKind::conv2d) return false;
  const auto& readers = read_by[static_cast<size_t>(conv.outputs[0].index)];
  if (readers.size() != 1) return false;
  const Operation& norm = p.operations[static_cast<size_t>(readers[0])];
  return norm.kind == OpKind::batch_norm && !std::get<NormAttributes>(norm.attributes).training;
}

// The convolution with the norm's work, writing the norm's result.
Operation folded(Program& p, Operation conv, const Operation& norm) {
  const Tensor weight = p.tensor(conv.inputs[1]);
  conv.inputs = {conv.inputs[0], add_parameter(p, weight.name + ":folded", weight.shape),
                 add_parameter(p, conv.layer + ".bias:folded", {weight.shape[0]})};
  conv.outputs = {norm.outputs[0]};
  return conv;
}

}  // namespace

Program fold_batch_norm(Program program, TensorValues& values) {
  const auto read_by = readers(program);
  std::vector<Operation> operations;
  std::vector<bool> gone(program.operations.size(), false);
  for (size_t i = 0; i < program.operations.size(); ++i) {
    const Operation op = program.operations[i];
    if (gone[i]) continue;
    if (!folds(program, read_by, op)) {
      operations.push_back(op);
      continue;
    }
    const auto next = static_cast<size_t>(read_by[static_cast<size_t>(op.outputs[0].index)][0]);
    const Operation norm = program.operations[next];
    fold_values(program, op, norm, values);
    operations.push_back(folded(program, op, norm));
    gone[next] = true;
  }
  program.operations = std::move(operations);
  check_program(program);
  return program;
}

}  // namespace gpusizer
