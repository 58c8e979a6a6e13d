// SPDX-License-Identifier: Apache-2.0
// What stands between gradients and updates: their norm, the factor that clips or skips, the loss scale, the step count.
#include <algorithm>
#include <cmath>

#include "workloads/backend/reference/kernels.hpp"

namespace gpusizer::reference {

namespace {

double square_sum(std::span<const View<const double>> gradients) {
  double squares = 0;
  for (const auto& one : gradients)
    for (const double g : one.values) squares += g * g;
  return squares;
}

// The results: factor, norm. The loss scale, where there is one, is the last input.
void clip(const Call& call, double squares) {
  const auto& a = call.attributes<GradientNormAttributes>();
  const double scale = a.scaled ? call.inputs.back()[0] : 1;
  const double norm = std::sqrt(squares) / scale;
  const double clipped = a.clip > 0 && norm > a.clip ? a.clip / norm : 1;
  call.outputs[0][0] = std::isfinite(norm) ? clipped / scale : 0;
  call.outputs[1][0] = norm;
}

// (gradients... [, loss scale]) -> factor, norm
void gradient_norm(const Call& call) {
  const bool scaled = call.attributes<GradientNormAttributes>().scaled;
  clip(call, square_sum({call.inputs.data(), call.inputs.size() - (scaled ? 1 : 0)}));
}

// (gradients...) -> the sum of their squares, with the loss scale still on
void sum_squares(const Call& call) { call.outputs[0][0] = square_sum(call.inputs); }

// (sum of squares [, loss scale]) -> factor, norm
void norm_factor(const Call& call) { clip(call, call.inputs[0][0]); }

// (steps [, factor]) -> steps
void count_step(const Call& call) {
  if (call.inputs.size() < 2 || call.inputs[1][0] != 0) call.outputs[0][0] += 1;
}

// (loss scale, good steps in a row, factor) -> loss scale, good steps
void loss_scale_update(const Call& call) {
  const auto& a = call.attributes<LossScaleAttributes>();
  double &scale = call.outputs[0][0], &good = call.outputs[1][0];
  if (call.inputs[2][0] == 0) {
    scale = std::max(1.0, scale * a.backoff);
    good = 0;
  } else if (++good >= static_cast<double>(a.interval)) {
    scale = std::min(scale * a.growth, a.largest);
    good = 0;
  }
}

constexpr Kernel table[] = {
    {OpKind::gradient_norm, gradient_norm},
    {OpKind::sum_squares, sum_squares},
    {OpKind::norm_factor, norm_factor},
    {OpKind::count_step, count_step},
    {OpKind::loss_scale_update, loss_scale_update},
};

}  // namespace

std::span<const Kernel> mixed_precision() { return table; }

}  // namespace gpusizer::reference
