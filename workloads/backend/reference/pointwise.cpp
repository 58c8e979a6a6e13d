// SPDX-License-Identifier: Apache-2.0
// Operations that look at one element at a time: ReLU, GELU, tanh, add, dropout, casts, and their gradients.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "workloads/backend/reference/kernels.hpp"
#include "workloads/program/dropout_mask.hpp"

namespace gpusizer::reference {

namespace {

// ReLU and dropout keep one value for each of their results: the mask, or the factor.
int64_t one_each(const Program& p, const Operation& op) { return element_count(p.tensor(op.inputs[0]).shape); }

// Not max(x, 0): a NaN must stay one, or a diverged training would look well.
double clip(double x) { return x < 0 ? 0 : x; }

// x -> y, saved: 1 where the value came through
void relu(const Call& call) {
  const auto& x = call.inputs[0];
  for (int64_t i = 0; i < x.size(); ++i) {
    call.outputs[0][i] = clip(x[i]);
    call.outputs[1][i] = x[i] > 0;
  }
}

// (dy..., saved or y) -> dx. Both are positive exactly where the value came through.
void relu_backward(const Call& call) {
  const auto& dx = call.outputs[0];
  const int gradients = call.attributes<ReluAttributes>().gradients;
  for (int64_t i = 0; i < dx.size(); ++i) {
    double sum = 0;
    for (int g = 0; g < gradients; ++g) sum += call.inputs[static_cast<size_t>(g)][i];
    dx[i] = call.inputs.back()[i] > 0 ? sum : 0;
  }
}

// (a, b) -> a + b, or relu(a + b) and saved
void add(const Call& call) {
  const bool relu = call.attributes<AddAttributes>().relu;
  const auto& y = call.outputs[0];
  for (int64_t i = 0; i < y.size(); ++i) {
    const double sum = call.inputs[0][i] + call.inputs[1][i];
    y[i] = relu ? clip(sum) : sum;
    if (relu) call.outputs[1][i] = sum > 0;
  }
}

// x * (probability that a normal number is below x)
double normal_share(double x) { return 0.5 * (1 + std::erf(x / std::numbers::sqrt2)); }

void gelu(const Call& call) {
  for (int64_t i = 0; i < call.inputs[0].size(); ++i) call.outputs[0][i] = call.inputs[0][i] * normal_share(call.inputs[0][i]);
}

// (dy, x) -> dx
void gelu_backward(const Call& call) {
  const double peak = 1 / std::sqrt(2 * std::numbers::pi);
  for (int64_t i = 0; i < call.inputs[1].size(); ++i) {
    const double x = call.inputs[1][i];
    call.outputs[0][i] = call.inputs[0][i] * (normal_share(x) + x * peak * std::exp(-x * x / 2));
  }
}

void hyperbolic_tangent(const Call& call) {
  for (int64_t i = 0; i < call.inputs[0].size(); ++i) call.outputs[0][i] = std::tanh(call.inputs[0][i]);
}

// (dy, y) -> dx
void tangent_backward(const Call& call) {
  for (int64_t i = 0; i < call.inputs[1].size(); ++i)
    call.outputs[0][i] = call.inputs[0][i] * (1 - call.inputs[1][i] * call.inputs[1][i]);
}

// The executor rounds every result to its element type, so a cast has nothing else to do.
void cast(const Call& call) { std::ranges::copy(call.inputs[0].values, call.outputs[0].values.begin()); }

// x -> factor * x; or (y, x) -> y in place
void scale(const Call& call) {
  const double factor = call.attributes<ScaleAttributes>().factor;
  const auto& x = call.inputs.back();
  for (int64_t i = 0; i < x.size(); ++i) call.outputs[0][i] = factor * x[i];
}

// (x, random_state [, residual]) -> y, saved: the factor of each element
void dropout(const Call& call) {
  const auto& a = call.attributes<DropoutAttributes>();
  const auto &x = call.inputs[0], &state = call.inputs[1];
  const auto word = [&](int64_t i) { return static_cast<uint32_t>(static_cast<int64_t>(state[i])); };
  const uint32_t seed = word(0), step = word(1), threshold = dropout_mask::threshold(a.rate);
  for (int64_t i = 0; i < x.size(); i += 4) {
    const auto words = dropout_mask::words(static_cast<uint64_t>(i / 4), seed, step, a.stream);
    for (int64_t j = i; j < x.size() && j < i + 4; ++j) {
      const bool kept = dropout_mask::keep(words[static_cast<size_t>(j - i)], threshold);
      call.outputs[1][j] = kept ? dropout_mask::scale(a.rate) : 0;
      call.outputs[0][j] = x[j] * call.outputs[1][j] + (a.residual ? call.inputs[2][j] : 0);
    }
  }
}

// (dy, saved) -> dx
void dropout_backward(const Call& call) {
  for (int64_t i = 0; i < call.outputs[0].size(); ++i) call.outputs[0][i] = call.inputs[0][i] * call.inputs[1][i];
}

constexpr Kernel table[] = {
    {OpKind::relu, relu, one_each},
    {OpKind::relu_backward, relu_backward},
    {OpKind::add, add, one_each},
    {OpKind::gelu, gelu},
    {OpKind::gelu_backward, gelu_backward},
    {OpKind::tanh, hyperbolic_tangent},
    {OpKind::tanh_backward, tangent_backward},
    {OpKind::cast, cast},
    {OpKind::scale, scale},
    {OpKind::dropout, dropout, one_each},
    {OpKind::dropout_backward, dropout_backward},
};

}  // namespace

std::span<const Kernel> pointwise() { return table; }

}  // namespace gpusizer::reference
