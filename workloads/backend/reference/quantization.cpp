// SPDX-License-Identifier: Apache-2.0
// Eight-bit integers as the definition says them: sums of products are exact, results are rounded once.
#include <algorithm>
#include <cmath>

#include "workloads/backend/reference/kernels.hpp"

namespace gpusizer::reference {

namespace {

// (x, largest) -> largest
void record_range(const Call& call) {
  double& largest = call.outputs[0][0];
  for (const double x : call.inputs[0].values) largest = std::isnan(x) ? x : std::max(largest, std::abs(x));
}

double integer_of(double x, const QuantizeAttributes& a) {
  const bool is_signed = a.to == DType::i8;
  return std::clamp(std::nearbyint(x / a.scale), is_signed ? -128.0 : 0.0, is_signed ? 127.0 : 255.0);
}

void quantize(const Call& call) {
  const auto& a = call.attributes<QuantizeAttributes>();
  std::ranges::transform(call.inputs[0].values, call.outputs[0].values.begin(),
                         [&](double x) { return integer_of(x, a); });
}

void dequantize(const Call& call) {
  const double scale = call.attributes<QuantizeAttributes>().scale;
  std::ranges::transform(call.inputs[0].values, call.outputs[0].values.begin(), [&](double q) { return scale * q; });
}

double activated(double y, Int8Attributes::Activation activation) {
  switch (activation) {
    case Int8Attributes::Activation::none:
      return y;
    case Int8Attributes::Activation::relu:
      return y < 0 ? 0 : y;
    case Int8Attributes::Activation::gelu:
      return 0.5 * y * (1 + std::erf(y / std::sqrt(2.0)));
  }
  return y;
}

// What follows the sum of products in channel k.
double finished(const Call& call, int64_t element, int64_t channel, double sum) {
  const auto& a = call.attributes<Int8Attributes>();
  double y = a.x_scale * a.weight_scales[static_cast<size_t>(channel)] * (sum + call.inputs[2][channel]);
  if (a.residual) y += a.residual_scale * call.inputs[3][element];
  y = activated(y, a.activation);
  return a.to.to == DType::f32 ? y : integer_of(y, a.to);
}

// Sums by the convolution's own kernel, on the same values.
void conv2d(const Call& call) {
  const auto& a = call.attributes<Int8Attributes>();
  const Operation plain{OpKind::conv2d, call.operation->layer, {}, {}, a.conv};
  kernel(OpKind::conv2d).run({&plain, {call.inputs[0], call.inputs[1]}, call.outputs});
  const auto& y = call.outputs[0];
  const int64_t pixels = y.extent(2) * y.extent(3), channels = y.extent(1);
  for (int64_t i = 0; i < y.size(); ++i) y[i] = finished(call, i, i / pixels % channels, y[i]);
}

void linear(const Call& call) {
  kernel(OpKind::linear).run({call.operation, {call.inputs[0], call.inputs[1]}, call.outputs});
  const auto& y = call.outputs[0];
  for (int64_t i = 0; i < y.size(); ++i) y[i] = finished(call, i, i % y.extent(1), y[i]);
}

constexpr Kernel table[] = {
    {OpKind::record_range, record_range}, {OpKind::quantize, quantize},  {OpKind::dequantize, dequantize},
    {OpKind::conv2d_int8, conv2d},        {OpKind::linear_int8, linear},
};

}  // namespace

std::span<const Kernel> quantization() { return table; }

}  // namespace gpusizer::reference
