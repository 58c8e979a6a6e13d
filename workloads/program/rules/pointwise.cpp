// SPDX-License-Identifier: Apache-2.0
// Rules of the operations that look at one element at a time: ReLU, GELU, tanh, add, dropout, casts.
#include <fmt/format.h>

#include "workloads/program/builder.hpp"
#include "workloads/program/rules/rules.hpp"

namespace gpusizer::rules {

namespace {

Operation forward_of(const ProgramBuilder& b, int32_t index) {
  return b.program().operations[static_cast<size_t>(index)];  // a copy: building moves the list
}

// x -> y, saved
std::vector<OutputRule> keeping_outputs(const RuleContext& c) {
  return {{"", c.shape(0)}, {"saved", {}, DType::opaque, Role::saved}};
}

// (dy..., saved) -> dx
std::vector<OutputRule> relu_backward_outputs(const RuleContext& c) {
  const int gradients = std::get<ReluAttributes>(c.attributes).gradients;
  for (int i = 1; i < gradients; ++i)
    c.require(c.shape(static_cast<size_t>(i)) == c.shape(0),
              fmt::format("gradient {} does not fit gradient {}", to_string(c.shape(static_cast<size_t>(i))),
                          to_string(c.shape(0))));
  return {{"grad_input", c.shape(0), DType::f32, Role::gradient}};
}

Gradients relu_gradients(ProgramBuilder& b, int32_t index, const Gradients& dys, const std::vector<bool>&) {
  const Operation op = forward_of(b, index);
  return {b.apply(OpKind::relu_backward, op.layer, {*dys[0], op.outputs[1]}, ReluAttributes{}, Phase::backward, index)[0]};
}

// (a, b) -> y [, saved]
std::vector<OutputRule> add_outputs(const RuleContext& c) {
  c.require(c.shape(0) == c.shape(1),
            fmt::format("cannot add {} and {}", to_string(c.shape(0)), to_string(c.shape(1))));
  const bool gradient = c.inputs[0]->role == Role::gradient;
  std::vector<OutputRule> out{{"", c.shape(0), DType::f32, gradient ? Role::gradient : Role::activation}};
  if (std::get<AddAttributes>(c.attributes).relu) out.push_back({"saved", {}, DType::opaque, Role::saved});
  return out;
}

// The gradient of a sum is the gradient of each addend: no operation at all.
Gradients add_gradients(ProgramBuilder&, int32_t, const Gradients& dys, const std::vector<bool>&) {
  return {dys[0], dys[0]};
}

// x -> y
std::vector<OutputRule> plain_outputs(const RuleContext& c) { return {{"", c.shape(0)}}; }

// (dy, x or y) -> dx
std::vector<OutputRule> plain_backward_outputs(const RuleContext& c) {
  c.require(c.shape(0) == c.shape(1),
            fmt::format("gradient {} does not fit {}", to_string(c.shape(0)), to_string(c.shape(1))));
  return {{"grad_input", c.shape(0), DType::f32, Role::gradient}};
}

// The backward of GELU looks at x, that of tanh at y.
Gradients gelu_gradients(ProgramBuilder& b, int32_t index, const Gradients& dys, const std::vector<bool>&) {
  const Operation op = forward_of(b, index);
  return {b.apply(OpKind::gelu_backward, op.layer, {*dys[0], op.inputs[0]}, {}, Phase::backward, index)[0]};
}

Gradients tanh_gradients(ProgramBuilder& b, int32_t index, const Gradients& dys, const std::vector<bool>&) {
  const Operation op = forward_of(b, index);
  return {b.apply(OpKind::tanh_backward, op.layer, {*dys[0], op.outputs[0]}, {}, Phase::backward, index)[0]};
}

// x -> x rounded to the attribute's element type
std::vector<OutputRule> cast_outputs(const RuleContext& c) {
  const DType to = std::get<CastAttributes>(c.attributes).to;
  c.require(to != DType::i32 && to != DType::opaque, fmt::format("values cannot be cast to {}", to_string(to)));
  const bool gradient = c.inputs[0]->role == Role::gradient;
  return {{"", c.shape(0), to, gradient ? Role::gradient : Role::activation}};
}

// x -> factor * x; or (persistent, x) -> in place factor * x
std::vector<OutputRule> scale_outputs(const RuleContext& c) {
  if (c.inputs.size() > 1) {
    c.require(is_persistent(c.inputs[0]->role), fmt::format("{} does not persist", c.inputs[0]->name));
    c.require(c.shape(0) == c.shape(1), fmt::format("{} does not fit {}", to_string(c.shape(1)), to_string(c.shape(0))));
    return {{.suffix = "", .shape = {}, .in_place_of = 0}};
  }
  const bool gradient = c.inputs[0]->role == Role::gradient;
  return {{gradient ? "grad_input" : "", c.shape(0), DType::f32, gradient ? Role::gradient : Role::activation}};
}

Gradients scale_gradients(ProgramBuilder& b, int32_t index, const Gradients& dys, const std::vector<bool>&) {
  const Operation op = forward_of(b, index);
  const std::string name = op.layer + ":grad";
  return {b.apply(OpKind::scale, name, {*dys[0]}, op.attributes, Phase::backward, index)[0]};
}

// (x, random_state [, residual]) -> y, saved
std::vector<OutputRule> dropout_outputs(const RuleContext& c) {
  const double rate = std::get<DropoutAttributes>(c.attributes).rate;
  c.require(rate >= 0 && rate < 1, fmt::format("the rate {} is not in [0, 1)", rate));
  return keeping_outputs(c);
}

// (dy, saved) -> dx
std::vector<OutputRule> dropout_backward_outputs(const RuleContext& c) {
  return {{"grad_input", c.shape(0), DType::f32, Role::gradient}};
}

Gradients dropout_gradients(ProgramBuilder& b, int32_t index, const Gradients& dys, const std::vector<bool>&) {
  const Operation op = forward_of(b, index);
  return {b.apply(OpKind::dropout_backward, op.layer, {*dys[0], op.outputs[1]}, op.attributes, Phase::backward, index)[0],
          std::nullopt};
}

constexpr OperationRule table[] = {
    {OpKind::relu, "relu", keeping_outputs, nullptr, relu_gradients},
    {OpKind::relu_backward, "relu_backward", relu_backward_outputs},
    {OpKind::add, "add", add_outputs, nullptr, add_gradients},
    {OpKind::gelu, "gelu", plain_outputs, nullptr, gelu_gradients},
    {OpKind::gelu_backward, "gelu_backward", plain_backward_outputs},
    {OpKind::tanh, "tanh", plain_outputs, nullptr, tanh_gradients},
    {OpKind::tanh_backward, "tanh_backward", plain_backward_outputs},
    {OpKind::cast, "cast", cast_outputs},
    {OpKind::scale, "scale", scale_outputs, nullptr, scale_gradients},
    {OpKind::dropout, "dropout", dropout_outputs, nullptr, dropout_gradients},
    {OpKind::dropout_backward, "dropout_backward", dropout_backward_outputs},
};

}  // namespace

std::span<const OperationRule> pointwise() { return table; }

}  // namespace gpusizer::rules
