// SPDX-License-Identifier: Apache-2.0
// Batch normalisation (Ioffe and Szegedy 2015), alone or with a residual and a ReLU, of the whole batch or of groups of
// it, and its gradients.
#include <algorithm>
#include <cmath>

#include "workloads/backend/reference/kernels.hpp"

namespace gpusizer::reference {

namespace {

// Samples that are normalised together.
struct Group {
  int64_t first, samples;
};

int64_t group_samples(const NormAttributes& a, int64_t batch) { return a.training && a.group > 0 ? a.group : batch; }

// The elements of one channel of a group of [N, C, H, W]: visit(index) for each.
template <class Visit>
void for_each_in_channel(const Shape& x, const Group& group, int64_t channel, Visit visit) {
  const int64_t pixels = x[2] * x[3];
  for (int64_t n = group.first; n < group.first + group.samples; ++n)
    for (int64_t i = 0; i < pixels; ++i) visit((n * x[1] + channel) * pixels + i);
}

// Calls visit(group, its number) for each.
template <class Visit>
void for_each_group(const NormAttributes& a, const Shape& x, Visit visit) {
  const int64_t samples = group_samples(a, x[0]);
  for (int64_t g = 0; g * samples < x[0]; ++g) visit(Group{g * samples, samples}, g);
}

// Saved: mean [groups, C], 1 / standard deviation [groups, C], and with a ReLU a mask like y: 1 where it let the value
// through.
struct Places {
  int64_t channels, groups;

  Places(const NormAttributes& a, const Shape& x) : channels(x[1]), groups(x[0] / group_samples(a, x[0])) {}
  int64_t mean(int64_t group, int64_t c) const { return group * channels + c; }
  int64_t inverse(int64_t group, int64_t c) const { return (groups + group) * channels + c; }
  int64_t mask(int64_t i) const { return 2 * groups * channels + i; }
};

int64_t saved_elements(const Program& p, const Operation& op) {
  const Shape& x = p.tensor(op.inputs[0]).shape;
  const auto& a = std::get<NormAttributes>(op.attributes);
  return Places(a, x).mask(a.relu ? element_count(x) : 0);
}

struct Moments {
  double mean, variance;  // biased: divided by the number of values
};

Moments moments(const View<const double>& x, const Group& group, int64_t channel, double count) {
  double sum = 0, squares = 0;
  for_each_in_channel(*x.shape, group, channel, [&](int64_t i) { sum += x[i]; });
  const double mean = sum / count;
  for_each_in_channel(*x.shape, group, channel, [&](int64_t i) { squares += (x[i] - mean) * (x[i] - mean); });
  return {mean, squares / count};
}

// The moments of each channel of each group are kept, and the running ones moved towards their mean over the groups;
// the running variance is unbiased.
void take_statistics(const Call& call) {
  const auto& a = call.attributes<NormAttributes>();
  const auto& x = call.inputs[0];
  const Places at(a, *x.shape);
  const auto count = static_cast<double>(x.size() / (at.channels * at.groups)), groups = static_cast<double>(at.groups);
  const auto &saved = call.outputs[1], &running_mean = call.outputs[2], &running_variance = call.outputs[3];
  for (int64_t c = 0; c < at.channels; ++c) {
    double mean = 0, variance = 0;
    for_each_group(a, *x.shape, [&](const Group& group, int64_t g) {
      const Moments m = moments(x, group, c, count);
      saved[at.mean(g, c)] = m.mean;
      saved[at.inverse(g, c)] = 1 / std::sqrt(m.variance + a.epsilon);
      mean += m.mean / groups;
      variance += m.variance * count / (count - 1) / groups;
    });
    running_mean[c] += a.momentum * (mean - running_mean[c]);
    running_variance[c] += a.momentum * (variance - running_variance[c]);
  }
}

// (x, scale, shift, running_mean, running_variance [, residual]) -> y [, saved, running_mean, running_variance]
void forward(const Call& call) {
  const auto& a = call.attributes<NormAttributes>();
  const auto& x = call.inputs[0];
  const Places at(a, *x.shape);
  if (a.training) take_statistics(call);
  for_each_group(a, *x.shape, [&](const Group& group, int64_t g) {
    for (int64_t c = 0; c < at.channels; ++c) {
      const double mean = a.training ? call.outputs[1][at.mean(g, c)] : call.inputs[3][c];
      const double inverse =
          a.training ? call.outputs[1][at.inverse(g, c)] : 1 / std::sqrt(call.inputs[4][c] + a.epsilon);
      for_each_in_channel(*x.shape, group, c, [&](int64_t i) {
        double value = (x[i] - mean) * inverse * call.inputs[1][c] + call.inputs[2][c];
        if (a.residual) value += call.inputs[5][i];
        call.outputs[0][i] = a.relu && value < 0 ? 0 : value;
        if (a.relu && a.training) call.outputs[1][at.mask(i)] = value > 0;
      });
    }
  });
}

// The gradient that reaches the normalised value: the incoming ones summed, stopped where the ReLU stopped the value.
double arriving(const Call& call, const NormAttributes& a, const Places& at, int64_t i) {
  if (a.relu && call.inputs.back()[at.mask(i)] == 0) return 0;
  double sum = 0;
  for (int g = 0; g < a.gradients; ++g) sum += call.inputs[static_cast<size_t>(g)][i];
  return sum;
}

// The gradients of one channel of one group; those of scale and shift add up over the groups.
void backward_channel(const Call& call, const Places& at, const Group& group, int64_t g, int64_t c) {
  const auto& a = call.attributes<NormAttributes>();
  const auto &x = call.inputs[static_cast<size_t>(a.gradients)],
             &scale = call.inputs[static_cast<size_t>(a.gradients) + 1];
  const double mean = call.inputs.back()[at.mean(g, c)], inverse = call.inputs.back()[at.inverse(g, c)];
  const auto count = static_cast<double>(x.size() / (at.channels * at.groups));
  double sum = 0, product = 0;
  for_each_in_channel(*x.shape, group, c, [&](int64_t i) {
    const double dy = arriving(call, a, at, i);
    if (a.residual) call.outputs[3][i] = dy;
    sum += dy;
    product += dy * (x[i] - mean) * inverse;
  });
  for_each_in_channel(*x.shape, group, c, [&](int64_t i) {
    const double normalised = (x[i] - mean) * inverse;
    call.outputs[0][i] = scale[c] * inverse * (arriving(call, a, at, i) - sum / count - normalised * product / count);
  });
  call.outputs[1][c] += product;
  call.outputs[2][c] += sum;
}

// (dy..., x, scale, saved) -> dx, dscale, dshift [, dresidual]
void backward(const Call& call) {
  const auto& a = call.attributes<NormAttributes>();
  const Shape& x = *call.inputs[static_cast<size_t>(a.gradients)].shape;
  const Places at(a, x);
  for (const size_t i : {size_t{1}, size_t{2}}) std::ranges::fill(call.outputs[i].values, 0.0);
  for_each_group(a, x, [&](const Group& group, int64_t g) {
    for (int64_t c = 0; c < at.channels; ++c) backward_channel(call, at, group, g, c);
  });
}

constexpr Kernel table[] = {
    {OpKind::batch_norm, forward, saved_elements},
    {OpKind::batch_norm_backward, backward},
};

}  // namespace

std::span<const Kernel> normalization() { return table; }

}  // namespace gpusizer::reference
