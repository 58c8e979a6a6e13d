// SPDX-License-Identifier: Apache-2.0
// Rules of the 2-D convolution: x [N, C, H, W], weight [K, C / groups, R, S], optional bias [K] -> y [N, K, P, Q].
#include <fmt/format.h>

#include "workloads/program/builder.hpp"
#include "workloads/program/rules/rules.hpp"

namespace gpusizer::rules {

namespace {

int64_t extent(int64_t input, int64_t kernel, const ConvAttributes& a) {
  return (input + 2 * a.padding - kernel) / a.stride + 1;
}

std::vector<OutputRule> forward_outputs(const RuleContext& c) {
  const auto& a = std::get<ConvAttributes>(c.attributes);
  const Shape &x = c.shape(0), &w = c.shape(1);
  const auto both = [&] { return fmt::format("input {} and weight {}", to_string(x), to_string(w)); };
  c.require(x.size() == 4 && w.size() == 4, both() + " must both have four dimensions");
  c.require(a.stride >= 1 && a.padding >= 0 && a.groups >= 1,
            fmt::format("stride {}, padding {}, groups {} cannot be", a.stride, a.padding, a.groups));
  c.require(x[1] == w[1] * a.groups && w[0] % a.groups == 0,
            fmt::format("{} do not fit: {} channels against {} x {} groups", both(), x[1], w[1], a.groups));
  c.require(x[2] + 2 * a.padding >= w[2] && x[3] + 2 * a.padding >= w[3],
            fmt::format("{} do not fit: the kernel is larger than the padded image", both()));
  if (c.inputs.size() > 2)
    c.require(c.shape(2) == Shape{w[0]},
              fmt::format("bias {} does not fit weight {}", to_string(c.shape(2)), to_string(w)));
  return {{"", {x[0], w[0], extent(x[2], w[2], a), extent(x[3], w[3], a)}}};
}

// (dy, weight) -> dx
std::vector<OutputRule> data_outputs(const RuleContext& c) {
  const auto& a = std::get<ConvAttributes>(c.attributes);
  const Shape &dy = c.shape(0), &w = c.shape(1);
  c.require(dy[1] == w[0] && dy[2] == extent(a.input_height, w[2], a) && dy[3] == extent(a.input_width, w[3], a),
            fmt::format("gradient {} does not fit weight {}", to_string(dy), to_string(w)));
  return {{"grad_input", {dy[0], w[1] * a.groups, a.input_height, a.input_width}, DType::f32, Role::gradient}};
}

// (x, dy, weight's shape by reference [, bias]) -> dw [, db]
std::vector<OutputRule> weights_outputs(const RuleContext& c) {
  const Shape &dy = c.shape(1), &w = c.shape(2);
  c.require(dy.size() == 4 && dy[1] == w[0], fmt::format("gradient {} does not fit weight {}", to_string(dy), to_string(w)));
  std::vector<OutputRule> out{{"grad_weight", c.shape(2), DType::f32, Role::gradient}};
  if (c.inputs.size() > 3) out.push_back({"grad_bias", c.shape(3), DType::f32, Role::gradient});
  return out;
}

// Each of the K x P x Q x N results takes C / groups x R x S multiply-accumulates; both gradients take as many.
int64_t macs_by(const Shape& output, const Shape& weight) {
  return element_count(output) * weight[1] * weight[2] * weight[3];
}

int64_t forward_macs(const Program& p, const Operation& op) {
  return macs_by(p.tensor(op.outputs[0]).shape, p.tensor(op.inputs[1]).shape);
}
int64_t data_macs(const Program& p, const Operation& op) {
  return macs_by(p.tensor(op.inputs[0]).shape, p.tensor(op.inputs[1]).shape);
}
int64_t weights_macs(const Program& p, const Operation& op) {
  return macs_by(p.tensor(op.inputs[1]).shape, p.tensor(op.inputs[2]).shape);
}

Gradients backward(ProgramBuilder& b, int32_t forward_op, const Gradients& dys, const std::vector<bool>& wanted) {
  const Operation op = b.program().operations[static_cast<size_t>(forward_op)];
  auto attributes = std::get<ConvAttributes>(op.attributes);
  const Shape& x = b.shape(op.inputs[0]);
  attributes.input_height = x[2];
  attributes.input_width = x[3];
  Gradients result(op.inputs.size());
  if (wanted[1] || (op.inputs.size() > 2 && wanted[2])) {
    std::vector<TensorId> inputs{op.inputs[0], *dys[0], op.inputs[1]};
    if (op.inputs.size() > 2) inputs.push_back(op.inputs[2]);
    const auto out = b.apply(OpKind::conv2d_backward_weights, op.layer, inputs, attributes, Phase::backward, forward_op);
    for (size_t i = 0; i < out.size(); ++i) result[1 + i] = out[i];
  }
  if (wanted[0])
    result[0] = b.apply(OpKind::conv2d_backward_data, op.layer, {*dys[0], op.inputs[1]}, attributes, Phase::backward,
                        forward_op)[0];
  return result;
}

constexpr OperationRule table[] = {
    {OpKind::conv2d, "conv2d", forward_outputs, forward_macs, backward},
    {OpKind::conv2d_backward_data, "conv2d_backward_data", data_outputs, data_macs},
    {OpKind::conv2d_backward_weights, "conv2d_backward_weights", weights_outputs, weights_macs},
};

}  // namespace

std::span<const OperationRule> convolution() { return table; }

}  // namespace gpusizer::rules
