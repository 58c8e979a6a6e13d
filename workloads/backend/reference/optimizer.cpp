// SPDX-License-Identifier: Apache-2.0
// Parameter updates, in place. What the formulas are is said with their attributes in operation.hpp.
#include <cmath>

#include "workloads/backend/reference/kernels.hpp"

namespace gpusizer::reference {

namespace {

double sign(double w) { return w > 0 ? 1 : w < 0 ? -1 : 0; }

// What the gradients are multiplied by; 0 skips the step.
double factor_of(const Call& call, bool scaled) { return scaled ? call.inputs.back()[0] : 1; }

// (parameter, gradient, learning_rate [, momentum] [, factor])
void sgd(const Call& call) {
  const auto& a = call.attributes<SgdAttributes>();
  const auto& w = call.outputs[0];
  const double rate = call.inputs[2][0], factor = factor_of(call, a.scaled);
  if (factor == 0) return;
  for (int64_t i = 0; i < w.size(); ++i) {
    double step = factor * call.inputs[1][i] + a.weight_decay * w[i] + a.l1 * sign(w[i]);
    if (call.outputs.size() > 1) step = call.outputs[1][i] = a.momentum * call.outputs[1][i] + step;
    w[i] -= rate * step;
  }
}

// Moves m and v by the gradient and returns the update without the learning rate. `decay`: the weight decay in it.
double adam_update(const Call& call, const AdamAttributes& a, double factor, double decay, int64_t i) {
  const double w = call.outputs[0][i], steps = call.inputs[5][0];
  double &m = call.outputs[1][i], &v = call.outputs[2][i];
  const double g = factor * call.inputs[1][i] + decay * w + a.update.l1 * sign(w);
  m = a.beta1 * m + (1 - a.beta1) * g;
  v = a.beta2 * v + (1 - a.beta2) * g * g;
  return m / (1 - std::pow(a.beta1, steps)) / (std::sqrt(v / (1 - std::pow(a.beta2, steps))) + a.epsilon);
}

// (parameter, gradient, learning_rate, m, v, steps [, factor])
void adam(const Call& call) {
  const auto& a = call.attributes<AdamAttributes>();
  const auto& w = call.outputs[0];
  const double rate = call.inputs[2][0], factor = factor_of(call, a.update.scaled);
  if (factor == 0) return;
  for (int64_t i = 0; i < w.size(); ++i) {
    const double update = adam_update(call, a, factor, a.decoupled ? 0 : a.update.weight_decay, i);
    if (a.decoupled) w[i] -= rate * a.update.weight_decay * w[i];
    w[i] -= rate * update;
  }
}

// (parameter, gradient, learning_rate, m, v, steps [, factor])
void lamb(const Call& call) {
  const auto& a = call.attributes<AdamAttributes>();
  const auto& w = call.outputs[0];
  const double factor = factor_of(call, a.update.scaled);
  if (factor == 0) return;
  std::vector<double> update(w.values.size());
  double weights = 0, updates = 0;
  for (int64_t i = 0; i < w.size(); ++i) {
    double& u = update[static_cast<size_t>(i)];
    u = adam_update(call, a, factor, 0, i) + a.update.weight_decay * w[i];
    weights += w[i] * w[i];
    updates += u * u;
  }
  const double ratio = weights > 0 && updates > 0 ? std::sqrt(weights / updates) : 1;
  for (int64_t i = 0; i < w.size(); ++i) w[i] -= call.inputs[2][0] * ratio * update[static_cast<size_t>(i)];
}

// (parameter, gradient, learning_rate, sum [, factor])
void adagrad(const Call& call) {
  const auto& a = call.attributes<AdagradAttributes>();
  const auto &w = call.outputs[0], &sum = call.outputs[1];
  const double factor = factor_of(call, a.update.scaled);
  if (factor == 0) return;
  for (int64_t i = 0; i < w.size(); ++i) {
    const double g = factor * call.inputs[1][i] + a.update.weight_decay * w[i] + a.update.l1 * sign(w[i]);
    sum[i] += g * g;
    w[i] -= call.inputs[2][0] * g / (std::sqrt(sum[i]) + a.epsilon);
  }
}

constexpr Kernel table[] = {
    {OpKind::sgd, sgd},
    {OpKind::adam, adam},
    {OpKind::adagrad, adagrad},
    {OpKind::lamb, lamb},
};

}  // namespace

std::span<const Kernel> optimizer() { return table; }

}  // namespace gpusizer::reference
