// SPDX-License-Identifier: Apache-2.0
// The fully connected layer y = x weight^T + bias and its gradients.
#include <algorithm>

#include "workloads/backend/reference/kernels.hpp"

namespace gpusizer::reference {

namespace {

// (x [N, in], weight [out, in] [, bias [out]]) -> y [N, out]
void forward(const Call& call) {
  const auto &x = call.inputs[0], &w = call.inputs[1];
  const auto& y = call.outputs[0];
  const int64_t in = x.extent(1), out = y.extent(1);
  for (int64_t k = 0; k < out; ++k)
    for (int64_t n = 0; n < x.extent(0); ++n) {
      double sum = call.inputs.size() > 2 ? call.inputs[2][k] : 0;
      for (int64_t i = 0; i < in; ++i) sum += x[n * in + i] * w[k * in + i];
      y[n * out + k] = sum;
    }
}

// (dy, weight) -> dx
void backward_data(const Call& call) {
  const auto &dy = call.inputs[0], &w = call.inputs[1];
  const auto& dx = call.outputs[0];
  const int64_t in = w.extent(1), out = w.extent(0);
  std::ranges::fill(dx.values, 0.0);
  for (int64_t k = 0; k < out; ++k)
    for (int64_t n = 0; n < dy.extent(0); ++n)
      for (int64_t i = 0; i < in; ++i) dx[n * in + i] += dy[n * out + k] * w[k * in + i];
}

// (x, dy, weight's shape [, bias]) -> dw [, db]
void backward_weights(const Call& call) {
  const auto &x = call.inputs[0], &dy = call.inputs[1];
  const auto& dw = call.outputs[0];
  const int64_t in = x.extent(1), out = dy.extent(1);
  for (const auto& output : call.outputs) std::ranges::fill(output.values, 0.0);
  for (int64_t k = 0; k < out; ++k)
    for (int64_t n = 0; n < x.extent(0); ++n) {
      const double g = dy[n * out + k];
      for (int64_t i = 0; i < in; ++i) dw[k * in + i] += g * x[n * in + i];
      if (call.outputs.size() > 1) call.outputs[1][k] += g;
    }
}

constexpr Kernel table[] = {
    {OpKind::linear, forward},
    {OpKind::linear_backward_data, backward_data},
    {OpKind::linear_backward_weights, backward_weights},
};

}  // namespace

std::span<const Kernel> linear() { return table; }

}  // namespace gpusizer::reference
