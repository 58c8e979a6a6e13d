// SPDX-License-Identifier: Apache-2.0
// Rules of the fully connected layer: x [N, in], weight [out, in], optional bias [out] -> y [N, out].
#include <fmt/format.h>

#include "workloads/program/builder.hpp"
#include "workloads/program/rules/rules.hpp"

namespace gpusizer::rules {

namespace {

std::vector<OutputRule> forward_outputs(const RuleContext& c) {
  const Shape &x = c.shape(0), &w = c.shape(1);
  c.require(x.size() == 2 && w.size() == 2 && x[1] == w[1],
            fmt::format("input {} does not fit weight {}", to_string(x), to_string(w)));
  if (c.inputs.size() > 2)
    c.require(c.shape(2) == Shape{w[0]},
              fmt::format("bias {} does not fit weight {}", to_string(c.shape(2)), to_string(w)));
  return {{"", {x[0], w[0]}}};
}

// (dy, weight) -> dx
std::vector<OutputRule> data_outputs(const RuleContext& c) {
  c.require(c.shape(0).size() == 2 && c.shape(0)[1] == c.shape(1)[0],
            fmt::format("gradient {} does not fit weight {}", to_string(c.shape(0)), to_string(c.shape(1))));
  return {{"grad_input", {c.shape(0)[0], c.shape(1)[1]}, DType::f32, Role::gradient}};
}

// (x, dy, weight's shape by reference [, bias]) -> dw [, db]
std::vector<OutputRule> weights_outputs(const RuleContext& c) {
  const Shape &x = c.shape(0), &dy = c.shape(1);
  c.require(dy.size() == 2 && dy[0] == x[0] && dy[1] == c.shape(2)[0],
            fmt::format("gradient {} does not fit input {} and weight {}", to_string(dy), to_string(x),
                        to_string(c.shape(2))));
  std::vector<OutputRule> out{{"grad_weight", c.shape(2), DType::f32, Role::gradient}};
  if (c.inputs.size() > 3) out.push_back({"grad_bias", c.shape(3), DType::f32, Role::gradient});
  return out;
}

// N x out x in, for the result and for both gradients: each has `rows` x the weight's elements.
int64_t macs_of(const Program& p, TensorId rows, TensorId weight) {
  return p.tensor(rows).shape[0] * element_count(p.tensor(weight).shape);
}
int64_t input_macs(const Program& p, const Operation& op) { return macs_of(p, op.inputs[0], op.inputs[1]); }
int64_t weights_macs(const Program& p, const Operation& op) { return macs_of(p, op.inputs[0], op.inputs[2]); }

Gradients backward(ProgramBuilder& b, int32_t index, const Gradients& dys, const std::vector<bool>& wanted) {
  const Operation op = b.program().operations[static_cast<size_t>(index)];
  Gradients result(op.inputs.size());
  if (wanted[1] || (op.inputs.size() > 2 && wanted[2])) {
    std::vector<TensorId> inputs{op.inputs[0], *dys[0], op.inputs[1]};
    if (op.inputs.size() > 2) inputs.push_back(op.inputs[2]);
    const auto out = b.apply(OpKind::linear_backward_weights, op.layer, inputs, {}, Phase::backward, index);
    for (size_t i = 0; i < out.size(); ++i) result[1 + i] = out[i];
  }
  if (wanted[0])
    result[0] = b.apply(OpKind::linear_backward_data, op.layer, {*dys[0], op.inputs[1]}, {}, Phase::backward, index)[0];
  return result;
}

constexpr OperationRule table[] = {
    {OpKind::linear, "linear", forward_outputs, input_macs, backward},
    {OpKind::linear_backward_data, "linear_backward_data", data_outputs, input_macs},
    {OpKind::linear_backward_weights, "linear_backward_weights", weights_outputs, weights_macs},
};

}  // namespace

std::span<const OperationRule> linear() { return table; }

}  // namespace gpusizer::rules
