// SPDX-License-Identifier: Apache-2.0
// Rules of self-attention: qkv [batch * sequence, 3 H], columns q, k, v, each head by head -> context [batch * sequence, H].
#include <fmt/format.h>

#include "workloads/program/builder.hpp"
#include "workloads/program/rules/rules.hpp"

namespace gpusizer::rules {

namespace {

// (qkv [, lengths i32 [batch]] [, random_state]) -> context, saved
std::vector<OutputRule> forward_outputs(const RuleContext& c) {
  const auto& a = std::get<AttentionAttributes>(c.attributes);
  const Shape& qkv = c.shape(0);
  c.require(qkv.size() == 2 && a.sequence > 0 && qkv[0] % a.sequence == 0,
            fmt::format("input {} is not made of sequences of {}", to_string(qkv), a.sequence));
  c.require(a.heads > 0 && qkv[1] % (3 * a.heads) == 0,
            fmt::format("input {} cannot be split into queries, keys and values of {} heads", to_string(qkv), a.heads));
  c.require(a.all_heads == 0 || (a.first_head >= 0 && a.first_head + a.heads <= a.all_heads),
            fmt::format("heads {} to {} are not among {}", a.first_head, a.first_head + a.heads, a.all_heads));
  c.require(a.rate >= 0 && a.rate < 1, fmt::format("the rate {} is not in [0, 1)", a.rate));
  c.require(c.inputs.size() == 1 + size_t{a.masked} + size_t{a.rate > 0},
            "its inputs are not those that its mask and dropout need");
  if (a.masked)
    c.require(c.inputs[1]->dtype == DType::i32 && c.shape(1) == Shape{qkv[0] / a.sequence},
              fmt::format("lengths {} are not one for each sequence", to_string(c.shape(1))));
  return {{"", {qkv[0], qkv[1] / 3}}, {"saved", {}, DType::opaque, Role::saved}};
}

// (dcontext, qkv, context, saved [, lengths]) -> dqkv
std::vector<OutputRule> backward_outputs(const RuleContext& c) {
  c.require(c.shape(0) == c.shape(2),
            fmt::format("gradient {} does not fit result {}", to_string(c.shape(0)), to_string(c.shape(2))));
  return {{"grad_input", c.shape(1), DType::f32, Role::gradient}};
}

Gradients gradients(ProgramBuilder& b, int32_t index, const Gradients& dys, const std::vector<bool>&) {
  const Operation op = b.program().operations[static_cast<size_t>(index)];
  std::vector<TensorId> inputs{*dys[0], op.inputs[0], op.outputs[0], op.outputs[1]};
  if (std::get<AttentionAttributes>(op.attributes).masked) inputs.push_back(op.inputs[1]);
  Gradients result(op.inputs.size());
  result[0] = b.apply(OpKind::attention_backward, op.layer, inputs, op.attributes, Phase::backward, index)[0];
  return result;
}

// q k^T and p v: each tokens x sequence x H. Padding is computed, so it is counted.
int64_t macs(const Program& p, const Operation& op) {
  const Shape& qkv = p.tensor(op.inputs[0]).shape;
  return 2 * qkv[0] * std::get<AttentionAttributes>(op.attributes).sequence * (qkv[1] / 3);
}

// Each product gives two gradients. A backend that computes the probabilities anew does more; that is not model work.
int64_t backward_macs(const Program& p, const Operation& op) {
  const Shape& qkv = p.tensor(op.inputs[1]).shape;
  return 4 * qkv[0] * std::get<AttentionAttributes>(op.attributes).sequence * (qkv[1] / 3);
}

constexpr OperationRule table[] = {
    {OpKind::attention, "attention", forward_outputs, macs, gradients},
    {OpKind::attention_backward, "attention_backward", backward_outputs, backward_macs},
};

}  // namespace

std::span<const OperationRule> attention() { return table; }

}  // namespace gpusizer::rules
