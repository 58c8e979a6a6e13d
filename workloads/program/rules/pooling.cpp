// SPDX-License-Identifier: Apache-2.0
// Rules of max and average pooling over square windows of x [N, C, H, W], and of flatten to rows.
#include <fmt/format.h>

#include "workloads/program/builder.hpp"
#include "workloads/program/rules/rules.hpp"

namespace gpusizer::rules {

namespace {

int64_t extent(int64_t input, const PoolAttributes& a) { return (input + 2 * a.padding - a.kernel) / a.stride + 1; }

OutputRule pooled(const RuleContext& c) {
  const auto& a = std::get<PoolAttributes>(c.attributes);
  const Shape& x = c.shape(0);
  c.require(x.size() == 4, fmt::format("input {} must have four dimensions", to_string(x)));
  c.require(a.kernel >= 1 && a.stride >= 1 && a.padding >= 0 && 2 * a.padding <= a.kernel,
            fmt::format("kernel {}, stride {}, padding {} cannot be", a.kernel, a.stride, a.padding));
  c.require(x[2] + 2 * a.padding >= a.kernel && x[3] + 2 * a.padding >= a.kernel,
            fmt::format("kernel {} is larger than the padded input {}", a.kernel, to_string(x)));
  return {"", {x[0], x[1], extent(x[2], a), extent(x[3], a)}};
}

// The largest of integers is one of them; real numbers of any width make f32 until a transform says otherwise.
DType same_integers(const RuleContext& c) {
  const DType dtype = c.inputs[0]->dtype;
  return dtype == DType::i8 || dtype == DType::u8 ? dtype : DType::f32;
}

std::vector<OutputRule> max_outputs(const RuleContext& c) {
  OutputRule y = pooled(c);
  y.dtype = same_integers(c);
  return {y, {"saved", {}, DType::opaque, Role::saved}};
}
std::vector<OutputRule> average_outputs(const RuleContext& c) { return {pooled(c)}; }

// (dy [, saved]) -> dx
std::vector<OutputRule> backward_outputs(const RuleContext& c) {
  const auto& a = std::get<PoolAttributes>(c.attributes);
  const Shape& dy = c.shape(0);
  return {{"grad_input", {dy[0], dy[1], a.input_height, a.input_width}, DType::f32, Role::gradient}};
}

Gradients pool_gradients(ProgramBuilder& b, int32_t index, const Gradients& dys, const std::vector<bool>&) {
  const Operation op = b.program().operations[static_cast<size_t>(index)];
  auto attributes = std::get<PoolAttributes>(op.attributes);
  attributes.input_height = b.shape(op.inputs[0])[2];
  attributes.input_width = b.shape(op.inputs[0])[3];
  const bool max = op.kind == OpKind::max_pool;
  std::vector<TensorId> inputs{*dys[0]};
  if (max) inputs.push_back(op.outputs[1]);
  return {b.apply(max ? OpKind::max_pool_backward : OpKind::avg_pool_backward, op.layer, inputs, attributes,
                  Phase::backward, index)[0]};
}

std::vector<OutputRule> flatten_outputs(const RuleContext& c) {
  const Shape& x = c.shape(0);
  c.require(x.size() >= 2, fmt::format("input {} has nothing to flatten", to_string(x)));
  const auto* a = std::get_if<FlattenAttributes>(&c.attributes);
  const auto leading = static_cast<size_t>(a ? a->leading : 1);
  c.require(leading >= 1 && leading <= x.size(), fmt::format("input {} has no {} leading dimensions", to_string(x), leading));
  int64_t rows = 1;
  for (size_t i = 0; i < leading; ++i) rows *= x[i];
  return {{"", {rows, element_count(x) / rows}, same_integers(c)}};
}

std::vector<OutputRule> flatten_backward_outputs(const RuleContext& c) {
  return {{"grad_input", std::get<FlattenAttributes>(c.attributes).input_shape, DType::f32, Role::gradient}};
}

Gradients flatten_gradients(ProgramBuilder& b, int32_t index, const Gradients& dys, const std::vector<bool>&) {
  const Operation op = b.program().operations[static_cast<size_t>(index)];
  return {b.apply(OpKind::flatten_backward, op.layer, {*dys[0]}, FlattenAttributes{b.shape(op.inputs[0])},
                  Phase::backward, index)[0]};
}

constexpr OperationRule table[] = {
    {OpKind::max_pool, "max_pool", max_outputs, nullptr, pool_gradients},
    {OpKind::max_pool_backward, "max_pool_backward", backward_outputs},
    {OpKind::avg_pool, "avg_pool", average_outputs, nullptr, pool_gradients},
    {OpKind::avg_pool_backward, "avg_pool_backward", backward_outputs},
    {OpKind::flatten, "flatten", flatten_outputs, nullptr, flatten_gradients},
    {OpKind::flatten_backward, "flatten_backward", flatten_backward_outputs},
};

}  // namespace

std::span<const OperationRule> pooling() { return table; }

}  // namespace gpusizer::rules
