// SPDX-License-Identifier: Apache-2.0
// What stands between gradients and updates: their norm, the factor that clips or skips, the loss scale, the step count.
#include <algorithm>
#include <cmath>

#include "workloads/backend/reference/kernels.hpp"

namespace gpusizer::reference {

namespace {

// (gradients... [, loss scale]) -> factor, norm
void gradient_norm(const Call& call) {
  const auto& a = call.attributes<GradientNormAttributes>();
  const double scale = a.scaled ? call.inputs.back()[0] : 1;
  double squares = 0;
  for (size_t i = 0; i < call.inputs.size() - (a.scaled ? 1 : 0); ++i)
    for (const double g : call.inputs[i].values) squares += g * g;
  const double norm = std::sqrt(squares) / scale;
  const double clipped = a.clip > 0 && norm > a.clip ? a.clip / norm : 1;
  call.outputs[0][0] = std::isfinite(norm) ? clipped / scale : 0;
  call.outputs[1][0] = norm;
}

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
    {OpKind::count_step, count_step},
    {OpKind::loss_scale_update, loss_scale_update},
};

}  // namespace

std::span<const Kernel> mixed_precision() { return table; }

}  // namespace gpusizer::reference
