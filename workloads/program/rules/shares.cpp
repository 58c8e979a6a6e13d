// SPDX-License-Identifier: Apache-2.0
// Rules of scalars that say which share a part of a batch, or of the gradients, has in the whole.
#include <fmt/format.h>

#include "workloads/program/rules/rules.hpp"

namespace gpusizer::rules {

namespace {

void require_scalar(const RuleContext& c, size_t input) {
  c.require(c.inputs.size() > input && c.shape(input).empty(), fmt::format("input {} must be a scalar", input));
}

// labels i32 -> how many of them are not negative
std::vector<OutputRule> count_outputs(const RuleContext& c) {
  c.require(c.inputs.size() == 1 && c.inputs[0]->dtype == DType::i32, "labels must be i32");
  return {{"", {}}};
}

// (a, b) -> a / b; 0 where b is 0
std::vector<OutputRule> divide_outputs(const RuleContext& c) {
  require_scalar(c, 0);
  require_scalar(c, 1);
  return {{"", {}}};
}

// (x, s) -> s x
std::vector<OutputRule> scale_by_outputs(const RuleContext& c) {
  require_scalar(c, 1);
  return {{"", c.shape(0), c.inputs[0]->dtype, c.inputs[0]->role == Role::gradient ? Role::gradient : Role::activation}};
}

// (gradients...) -> the sum of the squares of all their elements, with the loss scale still on
std::vector<OutputRule> sum_squares_outputs(const RuleContext& c) {
  c.require(!c.inputs.empty(), "there are no gradients");
  return {{"", {}}};
}

// (sum of squares [, loss scale]) -> factor, norm: as gradient_norm's
std::vector<OutputRule> norm_factor_outputs(const RuleContext& c) {
  require_scalar(c, 0);
  c.require(c.inputs.size() == 1 + size_t{std::get<GradientNormAttributes>(c.attributes).scaled},
            "the loss scale is missing");
  return {{"factor", {}}, {"norm", {}}};
}

constexpr OperationRule table[] = {
    {OpKind::count_labels, "count_labels", count_outputs}, {OpKind::divide, "divide", divide_outputs},
    {OpKind::scale_by, "scale_by", scale_by_outputs},      {OpKind::sum_squares, "sum_squares", sum_squares_outputs},
    {OpKind::norm_factor, "norm_factor", norm_factor_outputs},
};

}  // namespace

std::span<const OperationRule> shares() { return table; }

}  // namespace gpusizer::rules
