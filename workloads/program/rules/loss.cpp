// SPDX-License-Identifier: Apache-2.0
// Rules of softmax cross-entropy: logits [N, K], labels i32 [N] -> mean loss, number of correct samples,
// saved [, number of samples that count].
#include <fmt/format.h>

#include "workloads/program/builder.hpp"
#include "workloads/program/rules/rules.hpp"

namespace gpusizer::rules {

namespace {

std::vector<OutputRule> forward_outputs(const RuleContext& c) {
  const Shape &logits = c.shape(0), &labels = c.shape(1);
  c.require(logits.size() == 2 && element_count(labels) == logits[0],
            fmt::format("labels {} do not fit logits {}", to_string(labels), to_string(logits)));
  c.require(c.inputs[1]->dtype == DType::i32, "labels must be i32");
  std::vector<OutputRule> out{{"", {}}, {"correct", {}}, {"saved", {}, DType::opaque, Role::saved}};
  if (std::get<LossAttributes>(c.attributes).ignore_negative) out.push_back({"count", {}});
  return out;
}

// (d loss, labels, saved, logits' shape by reference) -> d logits
std::vector<OutputRule> backward_outputs(const RuleContext& c) {
  return {{"grad_input", c.shape(3), DType::f32, Role::gradient}};
}

Gradients backward(ProgramBuilder& b, int32_t index, const Gradients& dys, const std::vector<bool>&) {
  const Operation op = b.program().operations[static_cast<size_t>(index)];
  return {b.apply(OpKind::softmax_cross_entropy_backward, op.layer,
                  {*dys[0], op.inputs[1], op.outputs[2], op.inputs[0]}, op.attributes, Phase::backward, index)[0],
          std::nullopt};
}

constexpr OperationRule table[] = {
    {OpKind::softmax_cross_entropy, "softmax_cross_entropy", forward_outputs, nullptr, backward},
    {OpKind::softmax_cross_entropy_backward, "softmax_cross_entropy_backward", backward_outputs},
};

}  // namespace

std::span<const OperationRule> loss() { return table; }

}  // namespace gpusizer::rules
