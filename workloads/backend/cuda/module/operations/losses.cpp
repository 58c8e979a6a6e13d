// SPDX-License-Identifier: Apache-2.0
// Losses and their gradients. Labels are checked on the host, when they are bound.
#include <fmt/format.h>

#include "workloads/backend/cuda/module/check.hpp"
#include "workloads/backend/cuda/module/kernels/losses.hpp"
#include "workloads/backend/cuda/module/operations.hpp"

namespace gpusizer::cuda {

// (logits [N, K], labels [N]) -> loss, correct, saved [, count]
Prepared cross_entropy_loss(const Request& r) {
  const auto& a = r.attributes<LossAttributes>();
  const int64_t rows = r.input(0).shape[0], classes = r.input(0).shape[1];
  const Slot logits(r, r.op.inputs[0]);
  const Operation op = r.op;
  return {.workspace_bytes = rows * 4 * 4, .saved_bytes = cross_entropy_saved_floats(rows) * 4,
          .bind = [=, keeps = r.is_read(op.outputs[2])](const Place& place) {
            const CrossEntropyCall call{.logits = logits.at(place), .labels = place.ints(op.inputs[1]),
                                        .loss = place.floats(op.outputs[0]), .correct = place.floats(op.outputs[1]),
                                        .count = op.outputs.size() > 3 ? place.floats(op.outputs[3]) : nullptr,
                                        .saved = keeps ? place.floats(op.outputs[2]) : nullptr,
                                        .row_losses = place.workspace_floats(), .rows = rows, .classes = classes,
                                        .smoothing = static_cast<float>(a.label_smoothing), .ignores = a.ignore_negative};
            return work([call](cudaStream_t stream) { GPUSIZER_CHECK(cross_entropy(call, stream)); });
          }};
}

// (d loss, labels, saved, logits) -> d logits
Prepared cross_entropy_loss_backward(const Request& r) {
  const auto& a = r.attributes<LossAttributes>();
  const Slot logits(r, r.op.inputs[3]), dx(r, r.op.outputs[0]);
  const Operation op = r.op;
  return {.bind = [=, rows = r.output(0).shape[0], classes = r.output(0).shape[1]](const Place& place) {
    const CrossEntropyBackwardCall call{dx.at(place), logits.at(place), place.floats(op.inputs[0]), place.ints(op.inputs[1]),
                                        place.floats(op.inputs[2]), rows, classes, static_cast<float>(a.label_smoothing),
                                        a.ignore_negative};
    return work([call](cudaStream_t stream) { GPUSIZER_CHECK(cross_entropy_backward(call, stream)); });
  }};
}

namespace {

RegressionCall regression_call(const Request& r, const Tensor& target) {
  RegressionCall call{.count = element_count(target.shape)};
  const auto* a = std::get_if<QuantileAttributes>(&r.op.attributes);
  if (!a) return call;
  if (a->quantiles.size() > RegressionCall::most_quantiles)
    r.refuse(fmt::format("it has {} quantiles and {} are the most", a->quantiles.size(), int{RegressionCall::most_quantiles}));
  for (const double q : a->quantiles) call.quantiles[call.quantile_count++] = static_cast<float>(q);
  return call;
}

}  // namespace

// (prediction, target) -> loss, absolute error
Prepared regression(const Request& r) {
  const Slot prediction(r, r.op.inputs[0]), target(r, r.op.inputs[1]);
  return {.workspace_bytes = regression_partial_floats * 4,
          .bind = [=, shape = regression_call(r, r.input(1)), op = r.op](const Place& place) {
            RegressionCall call = shape;
            call.prediction = prediction.at(place);
            call.target = target.at(place);
            call.loss = place.floats(op.outputs[0]);
            call.absolute_error = place.floats(op.outputs[1]);
            call.partials = place.workspace_floats();
            return work([call](cudaStream_t stream) { GPUSIZER_CHECK(regression_loss(call, stream)); });
          }};
}

// (d loss, prediction, target) -> d prediction
Prepared regression_gradient(const Request& r) {
  const Slot prediction(r, r.op.inputs[1]), target(r, r.op.inputs[2]), dx(r, r.op.outputs[0]);
  return {.bind = [=, shape = regression_call(r, r.input(2)), dloss = r.op.inputs[0]](const Place& place) {
    RegressionCall call = shape;
    call.prediction = prediction.at(place);
    call.target = target.at(place);
    call.dx = dx.at(place);
    call.dloss = place.floats(dloss);
    return work([call](cudaStream_t stream) { GPUSIZER_CHECK(regression_backward(call, stream)); });
  }};
}

}  // namespace gpusizer::cuda
