// SPDX-License-Identifier: Apache-2.0
// Rules of layer normalisation (Ba et al., 2016): each row of x [N, H] by its own mean and variance; scale, shift [H].
#include <fmt/format.h>

#include "workloads/program/builder.hpp"
#include "workloads/program/rules/rules.hpp"

namespace gpusizer::rules {

namespace {

// (x, scale, shift) -> y, saved
std::vector<OutputRule> forward_outputs(const RuleContext& c) {
  const Shape& x = c.shape(0);
  c.require(x.size() == 2, fmt::format("input {} must have two dimensions", to_string(x)));
  for (size_t i = 1; i < 3; ++i)
    c.require(c.shape(i) == Shape{x[1]}, fmt::format("{} {} does not fit input {}", c.inputs[i]->name,
                                                     to_string(c.shape(i)), to_string(x)));
  return {{"", x}, {"saved", {}, DType::opaque, Role::saved}};
}

// (dy, x, scale, saved) -> dx, dscale, dshift
std::vector<OutputRule> backward_outputs(const RuleContext& c) {
  const Shape& x = c.shape(1);
  c.require(c.shape(0) == x, fmt::format("gradient {} does not fit input {}", to_string(c.shape(0)), to_string(x)));
  return {{"grad_input", x, DType::f32, Role::gradient},
          {"grad_weight", {x[1]}, DType::f32, Role::gradient},
          {"grad_bias", {x[1]}, DType::f32, Role::gradient}};
}

Gradients gradients(ProgramBuilder& b, int32_t index, const Gradients& dys, const std::vector<bool>&) {
  const Operation op = b.program().operations[static_cast<size_t>(index)];
  const auto out = b.apply(OpKind::layer_norm_backward, op.layer, {*dys[0], op.inputs[0], op.inputs[1], op.outputs[1]},
                           op.attributes, Phase::backward, index);
  return {out[0], out[1], out[2]};
}

constexpr OperationRule table[] = {
    {OpKind::layer_norm, "layer_norm", forward_outputs, nullptr, gradients},
    {OpKind::layer_norm_backward, "layer_norm_backward", backward_outputs},
};

}  // namespace

std::span<const OperationRule> layer_norm() { return table; }

}  // namespace gpusizer::rules
