// SPDX-License-Identifier: Apache-2.0
// Batch norm, alone or with a residual and a ReLU.
#include "workloads/backend/cuda/module/kernels/batch_norm.hpp"

#include "workloads/backend/cuda/module/check.hpp"
#include "workloads/backend/cuda/module/operations.hpp"

namespace gpusizer::cuda {

namespace {

ColumnPlan plan_of(const NormAttributes& a, const Shape& x) {
  const int64_t groups = a.training && a.group > 0 ? x[0] / a.group : 1;
  return {x[0] / groups * x[2] * x[3], x[1], groups};
}

// Saved: mean, inverse, and where the ReLU let through.
struct Saved {
  int64_t each, mask, bytes;
  Saved(const NormAttributes& a, const ColumnPlan& plan)
      : each(aligned(plan.groups * plan.columns * 4)), mask(2 * each),
        bytes(mask + (a.relu ? batch_norm_mask_bytes(plan) : 0)) {}
};

float* floats_at(std::byte* base, int64_t offset) { return reinterpret_cast<float*>(base + offset); }

}  // namespace

// (x, scale, shift, running_mean, running_variance [, residual]) -> y [, saved, running_mean, running_variance]
Prepared batch_norm(const Request& r) {
  const NormAttributes a = r.attributes<NormAttributes>();
  const ColumnPlan plan = plan_of(a, r.input(0).shape);
  const Saved saved(a, plan);
  const Operation op = r.op;
  const Slot x(r, op.inputs[0]), scale(r, op.inputs[1]), shift(r, op.inputs[2]), y(r, op.outputs[0]);
  const Slot residual = a.residual ? Slot(r, op.inputs[5]) : x;
  const bool keeps = a.training && r.is_read(op.outputs[1]);
  const int64_t statistics = a.training && !keeps ? 2 * saved.each : 0;  // they are needed within the operation
  return {.workspace_bytes = statistics + (a.training ? plan.partial_floats(2) * 4 : 0),
          .saved_bytes = a.training ? saved.bytes : 0,
          .bind = [=](const Place& place) {
            BatchNormCall call{.plan = plan, .y = y.at(place), .x = x.at(place), .scale = scale.at(place),
                               .shift = shift.at(place)};
            if (a.residual) call.residual = residual.at(place);
            call.running_mean = place.floats(op.inputs[3]);
            call.running_variance = place.floats(op.inputs[4]);
            call.epsilon = static_cast<float>(a.epsilon);
            call.momentum = static_cast<float>(a.momentum);
            call.relu = a.relu;
            if (!a.training)
              return work([call](cudaStream_t stream) { GPUSIZER_CHECK(batch_norm_inference(call, stream)); });
            std::byte* kept = keeps ? place.bytes(op.outputs[1]) : place.workspace;
            call.mean = floats_at(kept, 0);
            call.inverse = floats_at(kept, saved.each);
            if (keeps && a.relu) call.mask = reinterpret_cast<uint8_t*>(kept + saved.mask);
            call.partials = floats_at(place.workspace, statistics);
            return work([call](cudaStream_t stream) { GPUSIZER_CHECK(batch_norm_training(call, stream)); });
          }};
}

// (dy..., x, scale, saved) -> dx, dscale, dshift [, dresidual]
Prepared batch_norm_backward(const Request& r) {
  const NormAttributes a = r.attributes<NormAttributes>();
  if (a.gradients > 2) r.refuse("more than two gradients are summed");
  const Operation op = r.op;
  const auto first = static_cast<size_t>(a.gradients);
  const ColumnPlan plan = plan_of(a, r.input(first).shape);
  const Saved saved(a, plan);
  const Slot dy(r, op.inputs[0]), x(r, op.inputs[first]), scale(r, op.inputs[first + 1]);
  const Slot second = a.gradients > 1 ? Slot(r, op.inputs[1]) : dy;
  const Slot dx(r, op.outputs[0]), dscale(r, op.outputs[1]), dshift(r, op.outputs[2]);
  const Slot dresidual = a.residual ? Slot(r, op.outputs[3]) : dx;
  const int64_t partials = aligned(plan.partial_floats(2) * 4);
  return {.workspace_bytes = partials + 2 * plan.groups * plan.columns * 4, .bind = [=](const Place& place) {
    std::byte* kept = place.bytes(op.inputs.back());
    BatchNormBackwardCall call{.plan = plan, .dx = dx.at(place), .dscale = dscale.at(place), .dshift = dshift.at(place),
                               .dy = dy.at(place), .x = x.at(place), .scale = scale.at(place), .mean = floats_at(kept, 0),
                               .inverse = floats_at(kept, saved.each), .partials = floats_at(place.workspace, 0),
                               .sums = floats_at(place.workspace, partials)};
    if (a.gradients > 1) call.second_dy = second.at(place);
    if (a.residual) call.dresidual = dresidual.at(place);
    if (a.relu) call.mask = reinterpret_cast<const uint8_t*>(kept + saved.mask);
    return work([call](cudaStream_t stream) { GPUSIZER_CHECK(batch_norm_backward(call, stream)); });
  }};
}

}  // namespace gpusizer::cuda
