// SPDX-License-Identifier: Apache-2.0
// The table of operations. To add one: a kind in operation.hpp, a row of rules in a file under rules/, a line in the
// table of operations.cpp. The tests over the table (gradients, backends) then cover it at once.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/program/program.hpp"

namespace gpusizer {

class ProgramBuilder;

// One result of an operation: a new tensor, or an input that is updated in place.
struct OutputRule {
  std::string suffix;  // name of the tensor: the layer's name, plus ":" and this unless it is empty
  Shape shape;
  DType dtype = DType::f32;
  Role role = Role::activation;
  int in_place_of = -1;  // index into the inputs
};

// What a shape rule sees: the operation's inputs as tensors.
struct RuleContext {
  OpKind kind;
  const std::string& layer;
  std::vector<const Tensor*> inputs;
  const Attributes& attributes;

  const Shape& shape(size_t input) const { return inputs.at(input)->shape; }
  // Throws the error that refuses the operation: names the operation, the layer and what does not fit.
  [[noreturn]] void refuse(const std::string& why) const;
  void require(bool holds, const std::string& why) const { if (!holds) refuse(why); }
};

using Gradients = std::vector<std::optional<TensorId>>;

// The pairing of an operation with its backward: emits the backward operations of `forward_op` and returns one gradient
// for each input (nothing where none is needed, see `wanted`). `output_gradients` has one entry for each output.
using BackwardRule = Gradients (*)(ProgramBuilder& builder, int32_t forward_op, const Gradients& output_gradients,
                                   const std::vector<bool>& wanted);

struct OperationRule {
  OpKind kind;
  std::string_view name;
  std::vector<OutputRule> (*outputs)(const RuleContext&);
  // Multiply-accumulates of matrix products and convolutions; nullptr counts as none (model FLOPs leave out the rest).
  int64_t (*macs)(const Program&, const Operation&) = nullptr;
  BackwardRule backward = nullptr;  // nullptr: no gradient passes through
  bool reaches_others = false;      // other ranks wait for it: never left out, whoever reads its results here
};

std::span<const OperationRule> operations();
const OperationRule& rule(OpKind kind);
std::string_view operation_name(OpKind kind);

// How many of the operation's inputs, the first ones, are computed with or sent. Of a delayed_all_reduce the others are
// what it keeps from step to step.
size_t given_inputs(const Operation& op);

}  // namespace gpusizer
