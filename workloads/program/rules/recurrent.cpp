// SPDX-License-Identifier: Apache-2.0
// Rules of one LSTM layer (Hochreiter & Schmidhuber, 1997; gates and names as PyTorch): the state starts at zero.
#include <fmt/format.h>

#include "workloads/program/builder.hpp"
#include "workloads/program/rules/rules.hpp"

namespace gpusizer::rules {

namespace {

// (x [steps * batch, I], w_ih [4 H, I], w_hh [4 H, H], b_ih [4 H], b_hh [4 H]) -> y [steps * batch, H], saved.
// The four blocks of H rows are the gates input, forget, cell, output.
std::vector<OutputRule> forward_outputs(const RuleContext& c) {
  const int64_t steps = std::get<LstmAttributes>(c.attributes).steps;
  const Shape &x = c.shape(0), &w_ih = c.shape(1), &w_hh = c.shape(2);
  c.require(x.size() == 2 && steps > 0 && x[0] % steps == 0,
            fmt::format("input {} is not made of {} time steps", to_string(x), steps));
  c.require(w_hh.size() == 2 && w_hh[0] == 4 * w_hh[1] && w_ih == Shape{w_hh[0], x[1]},
            fmt::format("weights {} and {} do not fit input {}", to_string(w_ih), to_string(w_hh), to_string(x)));
  for (size_t i = 3; i < 5; ++i)
    c.require(c.shape(i) == Shape{w_hh[0]}, fmt::format("bias {} does not fit weight {}", to_string(c.shape(i)),
                                                        to_string(w_hh)));
  return {{"", {x[0], w_hh[1]}}, {"saved", {}, DType::opaque, Role::saved}};
}

// (dy, x, w_ih, w_hh, y, saved) -> dw_ih, dw_hh, db_ih, db_hh [, dx]
std::vector<OutputRule> backward_outputs(const RuleContext& c) {
  c.require(c.shape(0) == c.shape(4),
            fmt::format("gradient {} does not fit result {}", to_string(c.shape(0)), to_string(c.shape(4))));
  const Shape bias{c.shape(3)[0]};
  std::vector<OutputRule> out{{"grad_weight_ih", c.shape(2), DType::f32, Role::gradient},
                              {"grad_weight_hh", c.shape(3), DType::f32, Role::gradient},
                              {"grad_bias_ih", bias, DType::f32, Role::gradient},
                              {"grad_bias_hh", bias, DType::f32, Role::gradient}};
  if (std::get<LstmAttributes>(c.attributes).input_gradient)
    out.push_back({"grad_input", c.shape(1), DType::f32, Role::gradient});
  return out;
}

Gradients gradients(ProgramBuilder& b, int32_t index, const Gradients& dys, const std::vector<bool>& wanted) {
  const Operation op = b.program().operations[static_cast<size_t>(index)];
  auto attributes = std::get<LstmAttributes>(op.attributes);
  attributes.input_gradient = wanted[0];
  const auto out = b.apply(OpKind::lstm_backward, op.layer,
                           {*dys[0], op.inputs[0], op.inputs[1], op.inputs[2], op.outputs[0], op.outputs[1]}, attributes,
                           Phase::backward, index);
  Gradients result{std::nullopt, out[0], out[1], out[2], out[3]};
  if (wanted[0]) result[0] = out[4];
  return result;
}

int64_t macs_of(const Shape& x, const Shape& w_ih, const Shape& w_hh) {
  return x[0] * (element_count(w_ih) + element_count(w_hh));
}

int64_t macs(const Program& p, const Operation& op) {
  return macs_of(p.tensor(op.inputs[0]).shape, p.tensor(op.inputs[1]).shape, p.tensor(op.inputs[2]).shape);
}

int64_t backward_macs(const Program& p, const Operation& op) {
  const Shape &x = p.tensor(op.inputs[1]).shape, &w_ih = p.tensor(op.inputs[2]).shape;
  const bool input_gradient = std::get<LstmAttributes>(op.attributes).input_gradient;
  return 2 * macs_of(x, w_ih, p.tensor(op.inputs[3]).shape) - (input_gradient ? 0 : x[0] * element_count(w_ih));
}

constexpr OperationRule table[] = {
    {OpKind::lstm, "lstm", forward_outputs, macs, gradients},
    {OpKind::lstm_backward, "lstm_backward", backward_outputs, backward_macs},
};

}  // namespace

std::span<const OperationRule> recurrent() { return table; }

}  // namespace gpusizer::rules
