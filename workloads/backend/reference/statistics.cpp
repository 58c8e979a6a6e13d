// SPDX-License-Identifier: Apache-2.0
// Batch normalisation whose statistics go over the samples of several ranks, and its gradients.
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

// x -> [3, C]: count, mean, squared deviations
void statistics_of(const Call& call) {
  const auto& x = call.inputs[0];
  const int64_t channels = x.extent(1);
  const auto count = static_cast<double>(x.size() / channels);
  for (int64_t c = 0; c < channels; ++c) {
    double sum = 0, squares = 0;
    for_each_in_channel(*x.shape, c, [&](int64_t i) { sum += x[i]; });
    const double mean = sum / count;
    for_each_in_channel(*x.shape, c, [&](int64_t i) { squares += (x[i] - mean) * (x[i] - mean); });
    call.outputs[0][c] = count;
    call.outputs[0][channels + c] = mean;
    call.outputs[0][2 * channels + c] = squares;
  }
}

struct Moments {
  double count = 0, mean = 0, squares = 0;
};

// Puts the ranks' statistics of one channel together, one after the other (Chan, Golub and LeVeque, 1983).
Moments joined(const View<const double>& statistics, int64_t channels, int64_t c) {
  Moments all;
  for (int64_t at = c; at < statistics.size(); at += 3 * channels) {
    const double count = statistics[at], distance = statistics[at + channels] - all.mean, together = all.count + count;
    all.mean += distance * count / together;
    all.squares += statistics[at + 2 * channels] + distance * distance * all.count * count / together;
    all.count = together;
  }
  return all;
}

// Saved: mean [C], 1 / standard deviation [C], the number of values.
int64_t saved_elements(const Program& p, const Operation& op) { return 2 * p.tensor(op.inputs[0]).shape[1] + 1; }

// (x, scale, shift, running_mean, running_variance, statistics) -> y, saved, running_mean, running_variance
void apply(const Call& call) {
  const auto& a = call.attributes<NormAttributes>();
  const auto& x = call.inputs[0];
  const auto &y = call.outputs[0], &saved = call.outputs[1], &running_mean = call.outputs[2],
             &running_variance = call.outputs[3];
  const int64_t channels = x.extent(1);
  for (int64_t c = 0; c < channels; ++c) {
    const Moments m = joined(call.inputs[5], channels, c);
    const double inverse = 1 / std::sqrt(m.squares / m.count + a.epsilon), scale = call.inputs[1][c],
                 shift = call.inputs[2][c];
    saved[c] = m.mean;
    saved[channels + c] = inverse;
    saved[2 * channels] = m.count;
    running_mean[c] += a.momentum * (m.mean - running_mean[c]);
    running_variance[c] += a.momentum * (m.squares / (m.count - 1) - running_variance[c]);
    for_each_in_channel(*x.shape, c, [&](int64_t i) { y[i] = (x[i] - m.mean) * inverse * scale + shift; });
  }
}

// (dy, x, saved) -> [2, C]
void sums(const Call& call) {
  const auto &dy = call.inputs[0], &x = call.inputs[1], &saved = call.inputs[2];
  const int64_t channels = x.extent(1);
  for (int64_t c = 0; c < channels; ++c) {
    double sum = 0, product = 0;
    for_each_in_channel(*x.shape, c, [&](int64_t i) {
      sum += dy[i];
      product += dy[i] * (x[i] - saved[c]) * saved[channels + c];
    });
    call.outputs[0][c] = sum;
    call.outputs[0][channels + c] = product;
  }
}

// (dy, x, scale, saved, sums, all ranks' sums) -> dx, dscale, dshift
void apply_backward(const Call& call) {
  const auto &dy = call.inputs[0], &x = call.inputs[1], &scale = call.inputs[2], &saved = call.inputs[3];
  const auto &own = call.inputs[4], &all = call.inputs[5];
  const int64_t channels = x.extent(1);
  const double count = saved[2 * channels];
  for (int64_t c = 0; c < channels; ++c) {
    const double mean = saved[c], inverse = saved[channels + c];
    for_each_in_channel(*x.shape, c, [&](int64_t i) {
      const double normalised = (x[i] - mean) * inverse;
      call.outputs[0][i] = scale[c] * inverse * (dy[i] - all[c] / count - normalised * all[channels + c] / count);
    });
    call.outputs[1][c] = own[channels + c];
    call.outputs[2][c] = own[c];
  }
}

constexpr Kernel table[] = {
    {OpKind::batch_norm_statistics, statistics_of},
    {OpKind::batch_norm_apply, apply, saved_elements},
    {OpKind::batch_norm_sums, sums},
    {OpKind::batch_norm_apply_backward, apply_backward},
};

}  // namespace

std::span<const Kernel> statistics() { return table; }

}  // namespace gpusizer::reference
