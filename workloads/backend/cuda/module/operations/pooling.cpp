// SPDX-License-Identifier: Apache-2.0
// Max and average pooling.
#include <fmt/format.h>

#include "workloads/backend/cuda/module/check.hpp"
#include "workloads/backend/cuda/module/kernels/windows.hpp"
#include "workloads/backend/cuda/module/operations.hpp"

namespace gpusizer::cuda {

namespace {

Windows windows_of(const Request& r, const Shape& x, const Shape& y) {
  const auto& a = r.attributes<PoolAttributes>();
  if (a.kernel > 16) r.refuse(fmt::format("windows of {0} x {0} have more places than a byte can name", a.kernel));
  return {x[0], x[2], x[3], x[1], y[2], y[3], a.kernel, a.kernel, a.stride, a.padding};
}

}  // namespace

// x -> y, saved
Prepared max_pool(const Request& r) {
  const Windows w = windows_of(r, r.input(0).shape, r.output(0).shape);
  const Slot x(r, r.op.inputs[0]), y(r, r.op.outputs[0]);
  return {.saved_bytes = element_count(r.output(0).shape),
          .bind = [=, saved = r.op.outputs[1], keeps = r.is_read(r.op.outputs[1])](const Place& place) {
            auto* places = keeps ? reinterpret_cast<uint8_t*>(place.bytes(saved)) : nullptr;
            return work([=, x = x.at(place), y = y.at(place)](cudaStream_t stream) {
              GPUSIZER_CHECK(max_pool(w, x, y, places, stream));
            });
          }};
}

// (dy, saved) -> dx
Prepared max_pool_backward(const Request& r) {
  const Windows w = windows_of(r, r.output(0).shape, r.input(0).shape);
  const Slot dy(r, r.op.inputs[0]), dx(r, r.op.outputs[0]);
  return {.bind = [=, saved = r.op.inputs[1]](const Place& place) {
    const auto* places = reinterpret_cast<const uint8_t*>(place.bytes(saved));
    return work([=, dy = dy.at(place), dx = dx.at(place)](cudaStream_t stream) {
      GPUSIZER_CHECK(max_pool_backward(w, dy, places, dx, stream));
    });
  }};
}

// x -> y
Prepared average_pool(const Request& r) {
  const auto& a = r.attributes<PoolAttributes>();
  const Shape &in = r.input(0).shape, &out = r.output(0).shape;
  const Windows w{in[0], in[2], in[3], in[1], out[2], out[3], a.kernel, a.kernel, a.stride, a.padding};
  const Slot x(r, r.op.inputs[0]), y(r, r.op.outputs[0]);
  return {.bind = [=](const Place& place) {
    return work([=, x = x.at(place), y = y.at(place)](cudaStream_t stream) { GPUSIZER_CHECK(average_pool(w, x, y, stream)); });
  }};
}

// dy -> dx
Prepared average_pool_backward(const Request& r) {
  const auto& a = r.attributes<PoolAttributes>();
  const Shape &in = r.output(0).shape, &out = r.input(0).shape;
  const Windows w{in[0], in[2], in[3], in[1], out[2], out[3], a.kernel, a.kernel, a.stride, a.padding};
  const Slot dy(r, r.op.inputs[0]), dx(r, r.op.outputs[0]);
  return {.bind = [=](const Place& place) {
    return work([=, dy = dy.at(place), dx = dx.at(place)](cudaStream_t stream) {
      GPUSIZER_CHECK(average_pool_backward(w, dy, dx, stream));
    });
  }};
}

}  // namespace gpusizer::cuda
