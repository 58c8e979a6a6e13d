// SPDX-License-Identifier: Apache-2.0
// Casts operands and narrows results, one operation after the other.
#include "workloads/transforms/mixed_precision.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ranges>
#include <set>

#include "gpusizer/error.hpp"
#include "workloads/transforms/precision_rules.hpp"

namespace gpusizer {

namespace {

struct PrecisionName {
  Precision precision;
  std::string_view name;
  DType dtype;
};
constexpr PrecisionName names[] = {{Precision::fp32, "fp32", DType::f32},
                                   {Precision::tf32, "tf32", DType::tf32},
                                   {Precision::fp16, "fp16", DType::f16},
                                   {Precision::bf16, "bf16", DType::bf16}};

// A tensor of numbers that may be narrowed: not a single number, no index, nothing that a backend keeps its own way.
bool is_array(const Tensor& t) {
  return !t.shape.empty() && t.dtype != DType::i32 && t.dtype != DType::opaque && t.role != Role::scalar;
}

class Narrowing {
 public:
  // `exact`: results that stay f32 whatever their operation's row says.
  Narrowing(Program program, Precision precision, std::set<TensorId> exact)
      : program_(std::move(program)), dtype_(element_type(precision)), exact_(std::move(exact)) {}

  Program run() {
    std::vector<Operation> before = std::exchange(program_.operations, {});
    std::vector<int32_t> place;
    for (Operation& op : before) {
      if (op.phase == Phase::update)
        throw Error(Fault::usage, "the precision must be chosen before the updates are added", program_.name);
      narrow_operands(op);
      if (dtype_ != DType::tf32) narrow_results(op);
      if (op.forward_op >= 0) op.forward_op = place[static_cast<size_t>(op.forward_op)];
      place.push_back(static_cast<int32_t>(program_.operations.size()));
      program_.operations.push_back(std::move(op));
    }
    check_program(program_);
    return std::move(program_);
  }

 private:
  void narrow_operands(Operation& op) {
    if (precision_rule(op.kind).operands != OperandWidth::narrow) return;
    for (TensorId& id : op.inputs) {
      const Tensor& t = program_.tensor(id);
      const bool bias = t.role == Role::parameter && t.shape.size() == 1;
      if (is_array(t) && t.dtype == DType::f32 && !(bias && dtype_ == DType::tf32)) id = cast_of(id, op.phase);
    }
  }

  // The narrow copy of a tensor, made where it is first needed.
  TensorId cast_of(TensorId id, Phase phase) {
    const auto [known, is_new] = casts_.try_emplace(id);
    if (!is_new) return known->second;
    const Tensor from = program_.tensor(id);  // a copy: the list moves
    const std::string name = fmt::format("{}:{}", from.name, to_string(dtype_));
    const TensorId to{static_cast<int32_t>(program_.tensors.size())};
    program_.tensors.push_back({.id = to, .name = name, .shape = from.shape, .dtype = dtype_,
                                .role = from.role == Role::gradient ? Role::gradient : Role::activation});
    program_.operations.push_back({OpKind::cast, name, {id}, {to}, CastAttributes{dtype_}, phase});
    return known->second = to;
  }

  void narrow_results(const Operation& op) {
    const ResultWidth width = precision_rule(op.kind).results;
    if (width == ResultWidth::full || (width == ResultWidth::widest && !all_narrow(op.inputs))) return;
    const size_t count = width == ResultWidth::first_narrow ? 1 : op.outputs.size();
    for (size_t i = 0; i < count; ++i) {
      Tensor& t = program_.tensor(op.outputs[i]);
      if (is_array(t) && !is_persistent(t.role) && !exact_.contains(t.id)) t.dtype = dtype_;
    }
  }

  bool all_narrow(const std::vector<TensorId>& ids) const {
    bool any = false;
    for (const TensorId id : ids) {
      if (!is_array(program_.tensor(id))) continue;
      if (program_.tensor(id).dtype != dtype_) return false;
      any = true;
    }
    return any;
  }

  Program program_;
  DType dtype_;
  std::set<TensorId> exact_;
  std::map<TensorId, TensorId> casts_;
};

// The gradients that parameters end up with where they are sums of others, and what is summed on the way.
std::set<TensorId> gradient_sums(const Differentiated& step) {
  std::set<TensorId> reached, sums;
  for (const auto& pair : step.gradients) reached.insert(pair.second);
  for (const Operation& op : step.program.operations | std::views::reverse) {
    if ((op.kind != OpKind::add && op.kind != OpKind::scale) || !reached.contains(op.outputs[0])) continue;
    sums.insert(op.outputs[0]);
    reached.insert(op.inputs.begin(), op.inputs.end());
  }
  return sums;
}

void scale_loss(Program& program) {
  const std::string name = program.tensor(program.loss).name + ":grad";
  const auto it = std::ranges::find(program.tensors, name, &Tensor::name);
  if (it == program.tensors.end() || it->role != Role::scalar)
    throw Error(Fault::usage, fmt::format("there is no scalar '{}' to scale the loss with", name), program.name);
  it->name = "loss_scale";
  it->role = Role::optimizer_state;
  it->initial = {Initializer::Kind::constant, first_loss_scale};
}

}  // namespace

std::string_view to_string(Precision precision) {
  return std::ranges::find(names, precision, &PrecisionName::precision)->name;
}

DType element_type(Precision precision) {
  return std::ranges::find(names, precision, &PrecisionName::precision)->dtype;
}

Precision precision(std::string_view word) {
  const auto it = std::ranges::find(names, word, &PrecisionName::name);
  if (it == std::end(names))
    throw Error(Fault::usage, fmt::format("there is no precision '{}'", word), "--precision",
                "use fp32, tf32, fp16 or bf16");
  return it->precision;
}

Differentiated mixed_precision(Differentiated step, Precision precision) {
  if (precision == Precision::fp32) return step;
  std::set<TensorId> sums = gradient_sums(step);
  step.program = Narrowing(std::move(step.program), precision, std::move(sums)).run();
  if (precision == Precision::fp16) scale_loss(step.program);
  return step;
}

Program mixed_precision(Program forward, Precision precision) {
  return precision == Precision::fp32 ? forward : Narrowing(std::move(forward), precision, {}).run();
}

}  // namespace gpusizer
