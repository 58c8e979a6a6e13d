// SPDX-License-Identifier: Apache-2.0
// Embeddings, picked rows, exchanged axes, and layer normalisation of rows.
#include "workloads/backend/cuda/module/kernels/rows.hpp"

#include "workloads/backend/cuda/module/check.hpp"
#include "workloads/backend/cuda/module/kernels/layer_norm.hpp"
#include "workloads/backend/cuda/module/operations.hpp"

namespace gpusizer::cuda {

namespace {

Picks picks_of(const GatherAttributes& a, const int32_t* indices) {
  return {indices, a.offset, a.stride, a.period, a.group_indices, a.group_rows, a.part ? a.first : 0};
}

}  // namespace

// (source [V, H] [, indices]) -> y [rows, H]
Prepared pick_rows(const Request& r) {
  const Slot source(r, r.op.inputs[0]), picked(r, r.op.outputs[0]);
  const Operation op = r.op;
  return {.bind = [=, shape = r.input(0).shape](const Place& place) {
    const auto& a = std::get<GatherAttributes>(op.attributes);
    const GatherCall call{picked.at(place), source.at(place), picks_of(a, op.inputs.size() > 1 ? place.ints(op.inputs[1]) : nullptr),
                          a.rows, shape[0], shape[1]};
    return work([call](cudaStream_t stream) { GPUSIZER_CHECK(gather_rows(call, stream)); });
  }};
}

// (dy [rows, H], source's shape [, indices]) -> dsource [V, H]
Prepared pick_rows_backward(const Request& r) {
  const Slot source(r, r.op.outputs[0]), picked(r, r.op.inputs[0]);
  const Operation op = r.op;
  return {.workspace_bytes = r.attributes<GatherAttributes>().rows * 4,
          .bind = [=, shape = r.output(0).shape](const Place& place) {
            const auto& a = std::get<GatherAttributes>(op.attributes);
            const GatherCall call{picked.at(place), source.at(place),
                                  picks_of(a, op.inputs.size() > 2 ? place.ints(op.inputs[2]) : nullptr), a.rows, shape[0],
                                  shape[1], reinterpret_cast<int32_t*>(place.workspace)};
            return work([call](cudaStream_t stream) { GPUSIZER_CHECK(gather_rows_backward(call, stream)); });
          }};
}

// x [outer * inner, ...] -> y [inner * outer, ...]
Prepared swap_two_axes(const Request& r) {
  const auto& a = r.attributes<SwapAttributes>();
  const Slot x(r, r.op.inputs[0]), y(r, r.op.outputs[0]);
  return {.bind = [=, row = element_count(r.input(0).shape) / (a.outer * a.inner)](const Place& place) {
    const SwapCall call{y.at(place), x.at(place), a.outer, a.inner, row};
    return work([call](cudaStream_t stream) { GPUSIZER_CHECK(swap_axes(call, stream)); });
  }};
}

// (x [N, H], scale [H], shift [H]) -> y, saved
Prepared normalize_rows(const Request& r) {
  const Slot x(r, r.op.inputs[0]), scale(r, r.op.inputs[1]), shift(r, r.op.inputs[2]), y(r, r.op.outputs[0]);
  const int64_t rows = r.input(0).shape[0], width = r.input(0).shape[1];
  return {.saved_bytes = rows * 2 * 4,
          .bind = [=, saved = r.op.outputs[1], keeps = r.is_read(r.op.outputs[1]),
                   epsilon = static_cast<float>(r.attributes<LayerNormAttributes>().epsilon)](const Place& place) {
            const LayerNormCall call{y.at(place), x.at(place), scale.at(place), shift.at(place),
                                     keeps ? place.floats(saved) : nullptr, rows, width, epsilon};
            return work([call](cudaStream_t stream) { GPUSIZER_CHECK(layer_norm(call, stream)); });
          }};
}

// (dy, x, scale, saved) -> dx, dscale, dshift
Prepared normalize_rows_backward(const Request& r) {
  const Slot dy(r, r.op.inputs[0]), x(r, r.op.inputs[1]), scale(r, r.op.inputs[2]);
  const Slot dx(r, r.op.outputs[0]), dscale(r, r.op.outputs[1]), dshift(r, r.op.outputs[2]);
  const int64_t rows = r.input(1).shape[0], width = r.input(1).shape[1];
  return {.workspace_bytes = layer_norm_partial_floats(rows, width) * 4,
          .bind = [=, saved = r.op.inputs[3]](const Place& place) {
            const LayerNormBackwardCall call{dx.at(place), dscale.at(place), dshift.at(place), dy.at(place), x.at(place),
                                             scale.at(place), place.floats(saved), place.workspace_floats(), rows, width};
            return work([call](cudaStream_t stream) { GPUSIZER_CHECK(layer_norm_backward(call, stream)); });
          }};
}

}  // namespace gpusizer::cuda
