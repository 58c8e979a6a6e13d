// SPDX-License-Identifier: Apache-2.0
// The builder of step programs.
#include "workloads/program/builder.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>
#include <variant>

#include "gpusizer/error.hpp"
#include "workloads/program/operations.hpp"

namespace gpusizer {

ProgramBuilder::ProgramBuilder(std::string name, int64_t batch) {
  if (batch < 1) throw Error(Fault::usage, fmt::format("a program needs a batch of at least 1, not {}", batch));
  program_.name = std::move(name);
  program_.batch = batch;
}

ProgramBuilder::ProgramBuilder(Program program) : program_(std::move(program)) {
  for (const Tensor& t : program_.tensors) names_.insert(t.name);
}

namespace {

// Far beyond any machine's memory, and small enough that products of sizes stay exact in 64 bits.
constexpr int64_t most_elements = int64_t{1} << 42;

void require_possible(const Tensor& tensor) {
  int64_t elements = 1;
  for (const int64_t extent : tensor.shape) {
    if (extent < 1)
      throw Error(Fault::usage, fmt::format("tensor '{}' would have the shape {}", tensor.name, to_string(tensor.shape)));
    if (extent > most_elements / elements)
      throw Error(Fault::usage, fmt::format("tensor '{}' with the shape {} has more elements than any machine can hold",
                                            tensor.name, to_string(tensor.shape)));
    elements *= extent;
  }
}

// What the operation's rule says to these inputs; a rule that misses an input or finds other attributes refuses too.
std::vector<OutputRule> outputs_of(const RuleContext& context) {
  try {
    return rule(context.kind).outputs(context);
  } catch (const std::out_of_range&) {
    context.refuse(fmt::format("{} inputs are too few", context.inputs.size()));
  } catch (const std::bad_variant_access&) {
    context.refuse("its attributes are those of another kind of operation");
  }
}

}  // namespace

TensorId ProgramBuilder::add_tensor(Tensor tensor) {
  require_possible(tensor);
  if (!names_.insert(tensor.name).second)
    throw Error(Fault::usage, fmt::format("two tensors are named '{}'", tensor.name), program_.name);
  tensor.id = TensorId{static_cast<int32_t>(program_.tensors.size())};
  program_.tensors.push_back(std::move(tensor));
  return program_.tensors.back().id;
}

TensorId ProgramBuilder::input(const std::string& name, Shape shape, DType dtype) {
  return add_tensor({.name = name, .shape = std::move(shape), .dtype = dtype, .role = Role::input});
}

TensorId ProgramBuilder::scalar(const std::string& name, double value, DType dtype, Shape shape) {
  return add_tensor({.name = name, .shape = std::move(shape), .dtype = dtype, .role = Role::scalar,
                     .initial = {Initializer::Kind::constant, value}});
}

TensorId ProgramBuilder::persistent(const std::string& name, Shape shape, Role role, Initializer initial, DType dtype) {
  return add_tensor({.name = name, .shape = std::move(shape), .dtype = dtype, .role = role, .initial = initial});
}

std::vector<TensorId> ProgramBuilder::apply(OpKind kind, const std::string& layer, std::vector<TensorId> inputs,
                                            Attributes attributes, Phase phase, int32_t forward_op) {
  RuleContext context{kind, layer, {}, attributes};
  for (const TensorId id : inputs) context.inputs.push_back(&program_.tensor(id));
  std::vector<TensorId> outputs;
  for (OutputRule& out : outputs_of(context)) {
    if (out.in_place_of >= 0) {
      outputs.push_back(inputs[static_cast<size_t>(out.in_place_of)]);
      continue;
    }
    const std::string name = out.suffix.empty() ? layer : layer + ":" + out.suffix;
    outputs.push_back(add_tensor({.name = name, .shape = std::move(out.shape), .dtype = out.dtype, .role = out.role}));
  }
  program_.operations.push_back({kind, layer, std::move(inputs), outputs, std::move(attributes), phase, forward_op});
  return outputs;
}

void ProgramBuilder::set_loss(TensorId loss, TensorId correct) {
  program_.loss = loss;
  program_.correct = correct;
}

void ProgramBuilder::add_output(ProgramOutput output) {
  if (program_.outputs.size() == most_program_outputs)
    throw Error(Fault::usage, fmt::format("a program has at most {} outputs", most_program_outputs), output.name);
  program_.outputs.push_back(std::move(output));
}

Program ProgramBuilder::finish() {
  check_program(program_);
  names_.clear();
  return std::exchange(program_, {});
}

}  // namespace gpusizer
