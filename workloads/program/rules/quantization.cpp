// SPDX-License-Identifier: Apache-2.0
// Rules of inference with eight-bit integers: ranges seen, quantisation both ways, convolutions and layers of integers.
#include <fmt/format.h>

#include "workloads/program/builder.hpp"
#include "workloads/program/rules/rules.hpp"

namespace gpusizer::rules {

namespace {

bool is_integer(DType dtype) { return dtype == DType::i8 || dtype == DType::u8; }

void require_scale(const RuleContext& c, double scale) {
  c.require(scale > 0 && scale <= 1e30, fmt::format("the scale {} cannot be", scale));
}

// (x, largest [1]) -> largest in place: the largest |x| seen so far
std::vector<OutputRule> range_outputs(const RuleContext& c) {
  c.require(c.inputs.size() == 2 && c.shape(1) == Shape{1}, "it needs x and a tensor of one number");
  return {{.suffix = "", .shape = {}, .in_place_of = 1}};
}

// x -> its integers
std::vector<OutputRule> quantize_outputs(const RuleContext& c) {
  const auto& a = std::get<QuantizeAttributes>(c.attributes);
  require_scale(c, a.scale);
  c.require(is_integer(a.to) && c.inputs.at(0)->dtype == DType::f32, "it makes i8 or u8 of f32");
  return {{"", c.shape(0), a.to}};
}

// integers -> x
std::vector<OutputRule> dequantize_outputs(const RuleContext& c) {
  require_scale(c, std::get<QuantizeAttributes>(c.attributes).scale);
  c.require(is_integer(c.inputs.at(0)->dtype), "it makes f32 of i8 or u8");
  return {{"", c.shape(0)}};
}

void require_operands(const RuleContext& c, const Int8Attributes& a) {
  c.require(c.inputs.size() == 3 + size_t{a.residual}, "it needs x, a weight and a bias");
  c.require(is_integer(c.inputs[0]->dtype) && c.inputs[1]->dtype == DType::i8, "x and the weight must be integers");
  const int64_t channels = c.shape(1).at(0);
  c.require(c.shape(2) == Shape{channels} && a.weight_scales.size() == static_cast<size_t>(channels),
            fmt::format("bias {} and {} scales do not fit weight {}", to_string(c.shape(2)), a.weight_scales.size(),
                        to_string(c.shape(1))));
  for (const double scale : {a.x_scale, a.to.scale, a.residual_scale}) require_scale(c, scale);
  for (const double scale : a.weight_scales) require_scale(c, scale);
}

// The other rule's result for x and weight, with the element type that was asked for.
std::vector<OutputRule> outputs_like(OpKind kind, const RuleContext& c, const Attributes& attributes,
                                     bool integer_residual) {
  const auto& a = std::get<Int8Attributes>(c.attributes);
  require_operands(c, a);
  auto out = rule(kind).outputs({kind, c.layer, {c.inputs[0], c.inputs[1]}, attributes});
  if (a.residual)
    c.require(c.shape(3) == out[0].shape && is_integer(c.inputs[3]->dtype) == integer_residual,
              fmt::format("residual {} {} does not fit {}", to_string(c.inputs[3]->dtype), to_string(c.shape(3)),
                          to_string(out[0].shape)));
  out[0].dtype = a.to.to;
  return out;
}

// (x, weight, bias f32 [, residual]) -> y
std::vector<OutputRule> conv_outputs(const RuleContext& c) {
  const auto& a = std::get<Int8Attributes>(c.attributes);
  c.require(!a.residual || is_integer(a.to.to), "it adds a residual to integers only");
  c.require(a.activation != Int8Attributes::Activation::gelu, "it has no GELU");
  return outputs_like(OpKind::conv2d, c, a.conv, true);
}
std::vector<OutputRule> linear_outputs(const RuleContext& c) {
  const auto& a = std::get<Int8Attributes>(c.attributes);
  c.require(!a.residual || a.to.to == DType::f32, "it adds a residual to f32 only");
  return outputs_like(OpKind::linear, c, {}, false);
}

int64_t conv_macs(const Program& p, const Operation& op) { return rule(OpKind::conv2d).macs(p, op); }
int64_t linear_macs(const Program& p, const Operation& op) { return rule(OpKind::linear).macs(p, op); }

constexpr OperationRule table[] = {
    {OpKind::record_range, "record_range", range_outputs},
    {OpKind::quantize, "quantize", quantize_outputs},
    {OpKind::dequantize, "dequantize", dequantize_outputs},
    {OpKind::conv2d_int8, "conv2d_int8", conv_outputs, conv_macs},
    {OpKind::linear_int8, "linear_int8", linear_outputs, linear_macs},
};

}  // namespace

std::span<const OperationRule> quantization() { return table; }

}  // namespace gpusizer::rules
