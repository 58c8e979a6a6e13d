// SPDX-License-Identifier: Apache-2.0
// Losses of numbers: mean squared error, and the pinball loss of quantiles (Koenker and Bassett, 1978); their gradients.
#include <cmath>

#include "workloads/backend/reference/kernels.hpp"

namespace gpusizer::reference {

namespace {

// (prediction, target) -> mean squared error, mean absolute error
void mse(const Call& call) {
  const auto &prediction = call.inputs[0], &target = call.inputs[1];
  double squares = 0, absolutes = 0;
  for (int64_t i = 0; i < target.size(); ++i) {
    const double d = prediction[i] - target[i];
    squares += d * d;
    absolutes += std::abs(d);
  }
  call.outputs[0][0] = squares / static_cast<double>(target.size());
  call.outputs[1][0] = absolutes / static_cast<double>(target.size());
}

// (d loss, prediction, target) -> d prediction
void mse_backward(const Call& call) {
  const auto &prediction = call.inputs[1], &target = call.inputs[2];
  for (int64_t i = 0; i < target.size(); ++i)
    call.outputs[0][i] = call.inputs[0][0] * 2 * (prediction[i] - target[i]) / static_cast<double>(target.size());
}

// (prediction [N, K * Q], target [N, K]) -> mean pinball loss, mean absolute error of the middle quantile (of two middle
// ones the upper). Too low a prediction costs q for each unit, too high a one 1 - q.
void pinball(const Call& call) {
  const auto& quantiles = call.attributes<QuantileAttributes>().quantiles;
  const auto &prediction = call.inputs[0], &target = call.inputs[1];
  const auto count = static_cast<int64_t>(quantiles.size());
  double sum = 0, absolutes = 0;
  for (int64_t i = 0; i < prediction.size(); ++i) {
    const double q = quantiles[static_cast<size_t>(i % count)], d = target[i / count] - prediction[i];
    sum += d * (d < 0 ? q - 1 : q);
    if (i % count == count / 2) absolutes += std::abs(d);
  }
  call.outputs[0][0] = sum / static_cast<double>(prediction.size());
  call.outputs[1][0] = absolutes / static_cast<double>(target.size());
}

// (d loss, prediction, target) -> d prediction: 0 where the prediction is the target
void pinball_backward(const Call& call) {
  const auto& quantiles = call.attributes<QuantileAttributes>().quantiles;
  const auto &prediction = call.inputs[1], &target = call.inputs[2];
  const auto count = static_cast<int64_t>(quantiles.size());
  for (int64_t i = 0; i < prediction.size(); ++i) {
    const double q = quantiles[static_cast<size_t>(i % count)], d = target[i / count] - prediction[i];
    const double slope = d > 0 ? -q : d < 0 ? 1 - q : d;  // the last one is 0, or stays NaN
    call.outputs[0][i] = call.inputs[0][0] * slope / static_cast<double>(prediction.size());
  }
}

constexpr Kernel table[] = {
    {OpKind::mse_loss, mse},
    {OpKind::mse_loss_backward, mse_backward},
    {OpKind::pinball_loss, pinball},
    {OpKind::pinball_loss_backward, pinball_backward},
};

}  // namespace

std::span<const Kernel> regression() { return table; }

}  // namespace gpusizer::reference
