// SPDX-License-Identifier: Apache-2.0
// Batch normalisation (Ioffe and Szegedy 2015), alone or with a residual and a ReLU, and its gradients.
#include <cmath>

#include "workloads/backend/reference/kernels.hpp"

namespace gpusizer::reference {

namespace {

// The elements of one channel of [N, C, H, W]: visit(index) for each.
template <class Visit>
void for_each_in_channel(const Shape& x, int64_t channel, Visit visit) {
  const int64_t pixels = x[2] * x[3];
  for (int64_t n = 0; n < x[0]; ++n)
    for (int64_t i = 0; i < pixels; ++i) visit((n * x[1] + channel) * pixels + i);
}

// Saved: mean [C], 1 / standard deviation [C], and with a ReLU a mask like y: 1 where it let the value through.
int64_t saved_elements(const Program& p, const Operation& op) {
  const Shape& x = p.tensor(op.inputs[0]).shape;
  return 2 * x[1] + (std::get<NormAttributes>(op.attributes).relu ? element_count(x) : 0);
}

struct Moments {
  double mean, variance;  // biased: divided by the number of values
};

Moments moments(const View<const double>& x, int64_t channel, double count) {
  double sum = 0, squares = 0;
  for_each_in_channel(*x.shape, channel, [&](int64_t i) { sum += x[i]; });
  const double mean = sum / count;
  for_each_in_channel(*x.shape, channel, [&](int64_t i) { squares += (x[i] - mean) * (x[i] - mean); });
  return {mean, squares / count};
}

// The moments to normalise by; in training also keeps them and moves the running ones, whose variance is unbiased.
Moments settle_moments(const Call& call, int64_t c) {
  const auto& a = call.attributes<NormAttributes>();
  const auto& x = call.inputs[0];
  if (!a.training) return {call.inputs[3][c], call.inputs[4][c]};
  const auto count = static_cast<double>(x.size() / x.extent(1));
  const Moments m = moments(x, c, count);
  const auto &saved = call.outputs[1], &running_mean = call.outputs[2], &running_variance = call.outputs[3];
  saved[c] = m.mean;
  saved[x.extent(1) + c] = 1 / std::sqrt(m.variance + a.epsilon);
  running_mean[c] += a.momentum * (m.mean - running_mean[c]);
  running_variance[c] += a.momentum * (m.variance * count / (count - 1) - running_variance[c]);
  return m;
}

// (x, scale, shift, running_mean, running_variance [, residual]) -> y [, saved, running_mean, running_variance]
void forward(const Call& call) {
  const auto& a = call.attributes<NormAttributes>();
  const auto& x = call.inputs[0];
  const auto& y = call.outputs[0];
  const int64_t channels = x.extent(1);
  for (int64_t c = 0; c < channels; ++c) {
    const Moments m = settle_moments(call, c);
    const double inverse = 1 / std::sqrt(m.variance + a.epsilon), scale = call.inputs[1][c], shift = call.inputs[2][c];
    for_each_in_channel(*x.shape, c, [&](int64_t i) {
      double value = (x[i] - m.mean) * inverse * scale + shift;
      if (a.residual) value += call.inputs[5][i];
      y[i] = a.relu && value < 0 ? 0 : value;
      if (a.relu && a.training) call.outputs[1][2 * channels + i] = value > 0;
    });
  }
}

// The gradient that reaches the normalised value: the incoming ones summed, stopped where the ReLU stopped the value.
double arriving(const Call& call, const NormAttributes& a, int64_t channels, int64_t i) {
  const auto& saved = call.inputs.back();
  if (a.relu && saved[2 * channels + i] == 0) return 0;
  double sum = 0;
  for (int g = 0; g < a.gradients; ++g) sum += call.inputs[static_cast<size_t>(g)][i];
  return sum;
}

// (dy..., x, scale, saved) -> dx, dscale, dshift [, dresidual]
void backward(const Call& call) {
  const auto& a = call.attributes<NormAttributes>();
  const auto &x = call.inputs[static_cast<size_t>(a.gradients)], &scale = call.inputs[static_cast<size_t>(a.gradients) + 1];
  const auto& saved = call.inputs.back();
  const auto &dx = call.outputs[0], &dscale = call.outputs[1], &dshift = call.outputs[2];
  const int64_t channels = x.extent(1);
  const auto count = static_cast<double>(x.size() / channels);
  for (int64_t c = 0; c < channels; ++c) {
    const double mean = saved[c], inverse = saved[channels + c];
    double sum = 0, product = 0;
    for_each_in_channel(*x.shape, c, [&](int64_t i) {
      const double g = arriving(call, a, channels, i);
      if (a.residual) call.outputs[3][i] = g;
      sum += g;
      product += g * (x[i] - mean) * inverse;
    });
    for_each_in_channel(*x.shape, c, [&](int64_t i) {
      const double normalised = (x[i] - mean) * inverse;
      dx[i] = scale[c] * inverse * (arriving(call, a, channels, i) - sum / count - normalised * product / count);
    });
    dscale[c] = product;
    dshift[c] = sum;
  }
}

constexpr Kernel table[] = {
    {OpKind::batch_norm, forward, saved_elements},
    {OpKind::batch_norm_backward, backward},
};

}  // namespace

std::span<const Kernel> normalization() { return table; }

}  // namespace gpusizer::reference
