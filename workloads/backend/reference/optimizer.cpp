// SPDX-License-Identifier: Apache-2.0
// Parameter updates, in place.
#include "workloads/backend/reference/kernels.hpp"

namespace gpusizer::reference {

namespace {

// (parameter, gradient, learning_rate [, momentum]): g += wd * w;  m = momentum * m + g;  w -= lr * m
void sgd(const Call& call) {
  const auto& a = call.attributes<SgdAttributes>();
  const auto& w = call.outputs[0];
  const double rate = call.inputs[2][0];
  for (int64_t i = 0; i < w.size(); ++i) {
    double step = call.inputs[1][i] + a.weight_decay * w[i];
    if (call.outputs.size() > 1) step = call.outputs[1][i] = a.momentum * call.outputs[1][i] + step;
    w[i] -= rate * step;
  }
}

constexpr Kernel table[] = {{OpKind::sgd, sgd}};

}  // namespace

std::span<const Kernel> optimizer() { return table; }

}  // namespace gpusizer::reference
