// SPDX-License-Identifier: Apache-2.0
// Rules of the operations that pick or move whole rows: embeddings, masked positions, positions' own rows.
#include <fmt/format.h>

#include "workloads/program/builder.hpp"
#include "workloads/program/rules/rules.hpp"

namespace gpusizer::rules {

namespace {

void require_rows(const RuleContext& c, const GatherAttributes& a, int64_t source_rows, size_t indices) {
  if (a.part)
    c.require(c.inputs.size() > indices && a.group_rows == 0 && a.first >= 0 && a.first + source_rows <= a.all_rows,
              fmt::format("rows {} to {} are no part of a table of {} that is read by indices", a.first,
                          a.first + source_rows, a.all_rows));
  c.require(a.rows > 0 && a.stride >= 0 && a.offset >= 0 && a.period >= 0 && a.group_indices > 0 && a.group_rows >= 0,
            "its numbers of rows must be positive");
  if (c.inputs.size() > indices) {
    c.require(c.inputs[indices]->dtype == DType::i32 && element_count(c.shape(indices)) == a.rows,
              fmt::format("indices {} {} are not {} whole numbers", to_string(c.inputs[indices]->dtype),
                          to_string(c.shape(indices)), a.rows));
    return;
  }
  const int64_t last = a.period > 0 ? a.period - 1 : a.offset + (a.rows - 1) * a.stride;
  c.require(last < source_rows, fmt::format("row {} is not among the {} of the source", last, source_rows));
}

// (source [V, H] [, indices]) -> y [rows, H]
std::vector<OutputRule> gather_outputs(const RuleContext& c) {
  const auto& a = std::get<GatherAttributes>(c.attributes);
  const Shape& source = c.shape(0);
  c.require(source.size() == 2, fmt::format("source {} must have two dimensions", to_string(source)));
  require_rows(c, a, source[0], 1);
  return {{"", {a.rows, source[1]}}};
}

// (dy [rows, H], source's shape by reference [, indices]) -> dsource: zero but where rows arrive; repeated rows add up
std::vector<OutputRule> gather_backward_outputs(const RuleContext& c) {
  const auto& a = std::get<GatherAttributes>(c.attributes);
  const Shape &dy = c.shape(0), &source = c.shape(1);
  c.require(dy == Shape{a.rows, source.at(1)},
            fmt::format("gradient {} does not fit {} rows of {}", to_string(dy), a.rows, to_string(source)));
  return {{"grad_input", source, DType::f32, Role::gradient}};
}

Gradients gather_gradients(ProgramBuilder& b, int32_t index, const Gradients& dys, const std::vector<bool>&) {
  const Operation op = b.program().operations[static_cast<size_t>(index)];
  std::vector<TensorId> inputs{*dys[0], op.inputs[0]};
  if (op.inputs.size() > 1) inputs.push_back(op.inputs[1]);
  // The layer's name may be used by several gathers of one table: each has its own result's name.
  Gradients result(op.inputs.size());
  result[0] = b.apply(OpKind::gather_rows_backward, op.layer, inputs, op.attributes, Phase::backward, index)[0];
  return result;
}

// x [outer * inner, ...] -> y [inner * outer, ...]
std::vector<OutputRule> swap_outputs(const RuleContext& c) {
  const auto& a = std::get<SwapAttributes>(c.attributes);
  const Shape& x = c.shape(0);
  c.require(!x.empty() && a.outer > 0 && a.inner > 0 && x[0] == a.outer * a.inner,
            fmt::format("input {} does not have {} x {} rows", to_string(x), a.outer, a.inner));
  const bool gradient = c.inputs[0]->role == Role::gradient;
  return {{gradient ? "grad_input" : "", x, DType::f32, gradient ? Role::gradient : Role::activation}};
}

Gradients swap_gradients(ProgramBuilder& b, int32_t index, const Gradients& dys, const std::vector<bool>&) {
  const Operation op = b.program().operations[static_cast<size_t>(index)];
  const auto& a = std::get<SwapAttributes>(op.attributes);
  return {b.apply(OpKind::swap_axes, op.layer, {*dys[0]}, SwapAttributes{a.inner, a.outer}, Phase::backward, index)[0]};
}

constexpr OperationRule table[] = {
    {OpKind::gather_rows, "gather_rows", gather_outputs, nullptr, gather_gradients},
    {OpKind::gather_rows_backward, "gather_rows_backward", gather_backward_outputs},
    {OpKind::swap_axes, "swap_axes", swap_outputs, nullptr, swap_gradients},
};

}  // namespace

std::span<const OperationRule> gather() { return table; }

}  // namespace gpusizer::rules
