// SPDX-License-Identifier: Apache-2.0
// Rules of the losses of numbers: squared error, and quantiles (pinball loss; Koenker & Bassett, 1978).
#include <fmt/format.h>

#include <algorithm>

#include "workloads/program/builder.hpp"
#include "workloads/program/rules/rules.hpp"

namespace gpusizer::rules {

namespace {

// (prediction [N, K], target [N, K]) -> mean squared error, mean absolute error
std::vector<OutputRule> mse_outputs(const RuleContext& c) {
  c.require(c.shape(0).size() == 2 && c.shape(0) == c.shape(1),
            fmt::format("targets {} do not fit predictions {}", to_string(c.shape(1)), to_string(c.shape(0))));
  return {{"", {}}, {"absolute_error", {}}};
}

// (prediction [N, K * Q], target [N, K]) -> mean pinball loss over all quantiles, mean absolute error of the middle one.
// Column k * Q + q predicts quantile q of target k.
std::vector<OutputRule> pinball_outputs(const RuleContext& c) {
  const auto& q = std::get<QuantileAttributes>(c.attributes).quantiles;
  c.require(!q.empty() && std::ranges::is_sorted(q) && q.front() > 0 && q.back() < 1,
            "its quantiles must ascend between 0 and 1");
  const Shape &prediction = c.shape(0), &target = c.shape(1);
  c.require(target.size() == 2 && prediction == Shape{target[0], target[1] * static_cast<int64_t>(q.size())},
            fmt::format("targets {} do not fit predictions {} of {} quantiles", to_string(target), to_string(prediction),
                        q.size()));
  return {{"", {}}, {"absolute_error", {}}};
}

// (d loss, prediction, target) -> d prediction
std::vector<OutputRule> backward_outputs(const RuleContext& c) {
  return {{"grad_input", c.shape(1), DType::f32, Role::gradient}};
}

template <OpKind kind>
Gradients gradients(ProgramBuilder& b, int32_t index, const Gradients& dys, const std::vector<bool>&) {
  const Operation op = b.program().operations[static_cast<size_t>(index)];
  return {b.apply(kind, op.layer, {*dys[0], op.inputs[0], op.inputs[1]}, op.attributes, Phase::backward, index)[0],
          std::nullopt};
}

constexpr OperationRule table[] = {
    {OpKind::mse_loss, "mse_loss", mse_outputs, nullptr, gradients<OpKind::mse_loss_backward>},
    {OpKind::mse_loss_backward, "mse_loss_backward", backward_outputs},
    {OpKind::pinball_loss, "pinball_loss", pinball_outputs, nullptr, gradients<OpKind::pinball_loss_backward>},
    {OpKind::pinball_loss_backward, "pinball_loss_backward", backward_outputs},
};

}  // namespace

std::span<const OperationRule> regression() { return table; }

}  // namespace gpusizer::rules
