// SPDX-License-Identifier: Apache-2.0
// Layer normalisation (Ba et al., 2016): every row of x [N, H] by its own mean and biased variance; and its gradients.
#include <algorithm>
#include <cmath>

#include "workloads/backend/reference/kernels.hpp"

namespace gpusizer::reference {

namespace {

// Saved: mean [N], 1 / standard deviation [N].
int64_t saved_elements(const Program& p, const Operation& op) { return 2 * p.tensor(op.inputs[0]).shape[0]; }

// (x [N, H], scale [H], shift [H]) -> y, saved
void forward(const Call& call) {
  const auto& x = call.inputs[0];
  const int64_t rows = x.extent(0), width = x.extent(1);
  for (int64_t n = 0; n < rows; ++n) {
    double sum = 0, squares = 0;
    for (int64_t h = 0; h < width; ++h) sum += x[n * width + h];
    const double mean = sum / static_cast<double>(width);
    for (int64_t h = 0; h < width; ++h) squares += (x[n * width + h] - mean) * (x[n * width + h] - mean);
    const double variance = squares / static_cast<double>(width);
    const double inverse = 1 / std::sqrt(variance + call.attributes<LayerNormAttributes>().epsilon);
    call.outputs[1][n] = mean;
    call.outputs[1][rows + n] = inverse;
    for (int64_t h = 0; h < width; ++h)
      call.outputs[0][n * width + h] = (x[n * width + h] - mean) * inverse * call.inputs[1][h] + call.inputs[2][h];
  }
}

// (dy, x, scale, saved) -> dx, dscale, dshift
void backward(const Call& call) {
  const auto &dy = call.inputs[0], &x = call.inputs[1], &scale = call.inputs[2], &saved = call.inputs[3];
  const auto &dx = call.outputs[0], &dscale = call.outputs[1], &dshift = call.outputs[2];
  const int64_t rows = x.extent(0), width = x.extent(1);
  std::ranges::fill(dscale.values, 0.0);
  std::ranges::fill(dshift.values, 0.0);
  for (int64_t n = 0; n < rows; ++n) {
    const double mean = saved[n], inverse = saved[rows + n];
    double sum = 0, product = 0;
    for (int64_t h = 0; h < width; ++h) {
      const int64_t i = n * width + h;
      const double normalised = (x[i] - mean) * inverse;
      sum += dy[i] * scale[h];
      product += dy[i] * scale[h] * normalised;
      dscale[h] += dy[i] * normalised;
      dshift[h] += dy[i];
    }
    for (int64_t h = 0; h < width; ++h) {
      const int64_t i = n * width + h;
      const double normalised = (x[i] - mean) * inverse;
      dx[i] = inverse * (dy[i] * scale[h] - (sum + normalised * product) / static_cast<double>(width));
    }
  }
}

constexpr Kernel table[] = {
    {OpKind::layer_norm, forward, saved_elements},
    {OpKind::layer_norm_backward, backward},
};

}  // namespace

std::span<const Kernel> layer_norm() { return table; }

}  // namespace gpusizer::reference
