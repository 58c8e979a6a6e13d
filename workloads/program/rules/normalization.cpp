// SPDX-License-Identifier: Apache-2.0
// Rules of batch normalisation over N, H and W of x [N, C, H, W]; scale, shift, running mean and variance are [C].
#include <fmt/format.h>

#include "workloads/program/builder.hpp"
#include "workloads/program/rules/rules.hpp"

namespace gpusizer::rules {

namespace {

// (x, scale, shift, running_mean, running_variance [, residual]) -> y [, saved, running_mean, running_variance]
std::vector<OutputRule> forward_outputs(const RuleContext& c) {
  const auto& a = std::get<NormAttributes>(c.attributes);
  const Shape& x = c.shape(0);
  c.require(x.size() == 4, fmt::format("input {} must have four dimensions", to_string(x)));
  for (size_t i = 1; i < 5; ++i)
    c.require(c.shape(i) == Shape{x[1]}, fmt::format("{} {} does not fit input {}", c.inputs[i]->name,
                                                     to_string(c.shape(i)), to_string(x)));
  if (a.residual)
    c.require(c.shape(5) == x, fmt::format("residual {} does not fit input {}", to_string(c.shape(5)), to_string(x)));
  if (a.training && a.group > 0)
    c.require(x[0] % a.group == 0, fmt::format("a batch of {} is not made of groups of {}", x[0], a.group));
  if (a.training)
    c.require((a.group > 0 ? a.group : x[0]) * x[2] * x[3] > 1,
              fmt::format("input {} has one value per channel, whose variance is unknown: use a larger batch or image",
                          to_string(x)));
  std::vector<OutputRule> out{{"", x}};
  if (a.training) {
    out.push_back({"saved", {}, DType::opaque, Role::saved});
    out.push_back({.suffix = "", .shape = {}, .in_place_of = 3});
    out.push_back({.suffix = "", .shape = {}, .in_place_of = 4});
  }
  return out;
}

// (dy..., x, scale, saved) -> dx, dscale, dshift [, dresidual]
std::vector<OutputRule> backward_outputs(const RuleContext& c) {
  const auto& a = std::get<NormAttributes>(c.attributes);
  const auto n = static_cast<size_t>(a.gradients);
  const Shape &dy = c.shape(0), &x = c.shape(n);
  c.require(dy == x, fmt::format("gradient {} does not fit input {}", to_string(dy), to_string(x)));
  std::vector<OutputRule> out{{"grad_input", x, DType::f32, Role::gradient},
                              {"grad_weight", {x[1]}, DType::f32, Role::gradient},
                              {"grad_bias", {x[1]}, DType::f32, Role::gradient}};
  if (a.residual) out.push_back({"grad_residual", x, DType::f32, Role::gradient});
  return out;
}

Gradients backward(ProgramBuilder& b, int32_t forward_op, const Gradients& dys, const std::vector<bool>&) {
  const Operation op = b.program().operations[static_cast<size_t>(forward_op)];
  if (!std::get<NormAttributes>(op.attributes).training) return Gradients(op.inputs.size());
  const auto out = b.apply(OpKind::batch_norm_backward, op.layer, {*dys[0], op.inputs[0], op.inputs[1], op.outputs[1]},
                           op.attributes, Phase::backward, forward_op);
  return {out[0], out[1], out[2], std::nullopt, std::nullopt};
}

constexpr OperationRule table[] = {
    {OpKind::batch_norm, "batch_norm", forward_outputs, nullptr, backward},
    {OpKind::batch_norm_backward, "batch_norm_backward", backward_outputs},
};

}  // namespace

std::span<const OperationRule> normalization() { return table; }

}  // namespace gpusizer::rules
