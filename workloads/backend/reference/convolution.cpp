// SPDX-License-Identifier: Apache-2.0
// The 2-D convolution and its two gradients, as the definition says them.
#include <algorithm>

#include "workloads/backend/reference/kernels.hpp"

namespace gpusizer::reference {

namespace {

struct Geometry {
  int64_t batch, channels, height, width;        // of x
  int64_t features, out_height, out_width;       // of y
  int64_t group_channels, kernel_height, kernel_width;  // of the weight [features, group_channels, ...]
  int64_t stride, padding, groups;
};

Geometry geometry(const Shape& x, const Shape& w, const Shape& y, const ConvAttributes& a) {
  return {x[0], x[1], x[2], x[3], w[0], y[2], y[3], w[1], w[2], w[3], a.stride, a.padding, a.groups};
}

// Where one row of results meets one row of x under one weight: result y + i takes weight w times x + i * stride.
struct Row {
  int64_t x, y, w, count;
};

// The results q of one row for which column q * stride - padding + s lies inside the image.
Row clipped(const Geometry& g, int64_t x_row, int64_t y_row, int64_t w, int64_t s) {
  const int64_t shift = s - g.padding;  // the column that result 0 meets
  const int64_t first = shift >= 0 ? 0 : (-shift + g.stride - 1) / g.stride;
  const int64_t last = g.width - 1 - shift < 0 ? -1 : std::min(g.out_width - 1, (g.width - 1 - shift) / g.stride);
  return {x_row + first * g.stride + shift, y_row + first, w, last - first + 1};
}

// Visits every triple (result row, weight, row of x): all three convolutions are sums over them.
template <class Visit>
void for_each_row(const Geometry& g, Visit visit) {
  for (int64_t n = 0; n < g.batch; ++n)
    for (int64_t k = 0; k < g.features; ++k)
      for (int64_t c = 0; c < g.group_channels; ++c) {
        const int64_t channel = k / (g.features / g.groups) * g.group_channels + c;
        for (int64_t p = 0; p < g.out_height; ++p)
          for (int64_t r = 0; r < g.kernel_height; ++r) {
            const int64_t h = p * g.stride - g.padding + r;
            if (h < 0 || h >= g.height) continue;
            const int64_t x_row = ((n * g.channels + channel) * g.height + h) * g.width;
            const int64_t y_row = ((n * g.features + k) * g.out_height + p) * g.out_width;
            const int64_t w_row = ((k * g.group_channels + c) * g.kernel_height + r) * g.kernel_width;
            for (int64_t s = 0; s < g.kernel_width; ++s)
              if (const Row row = clipped(g, x_row, y_row, w_row + s, s); row.count > 0) visit(row);
          }
      }
}

// (x, weight [, bias]) -> y
void forward(const Call& call) {
  const auto &x = call.inputs[0], &w = call.inputs[1];
  const auto& y = call.outputs[0];
  const auto& a = call.attributes<ConvAttributes>();
  const int64_t pixels = y.extent(2) * y.extent(3), features = y.extent(1);
  for (int64_t i = 0; i < y.size(); ++i) y[i] = call.inputs.size() > 2 ? call.inputs[2][i / pixels % features] : 0;
  for_each_row(geometry(*x.shape, *w.shape, *y.shape, a), [&](const Row& row) {
    const double weight = w[row.w];
    const double* from = &x[row.x];
    double* to = &y[row.y];
    for (int64_t i = 0; i < row.count; ++i) to[i] += weight * from[i * a.stride];
  });
  if (a.relu)
    for (double& value : y.values) value = value < 0 ? 0 : value;
}

// (dy, weight) -> dx
void backward_data(const Call& call) {
  const auto &dy = call.inputs[0], &w = call.inputs[1];
  const auto& dx = call.outputs[0];
  const auto& a = call.attributes<ConvAttributes>();
  std::ranges::fill(dx.values, 0.0);
  for_each_row(geometry(*dx.shape, *w.shape, *dy.shape, a), [&](const Row& row) {
    const double weight = w[row.w];
    const double* from = &dy[row.y];
    double* to = &dx[row.x];
    for (int64_t i = 0; i < row.count; ++i) to[i * a.stride] += weight * from[i];
  });
}

// (x, dy, weight's shape [, bias]) -> dw [, db]
void backward_weights(const Call& call) {
  const auto &x = call.inputs[0], &dy = call.inputs[1];
  const auto& dw = call.outputs[0];
  const auto& a = call.attributes<ConvAttributes>();
  std::ranges::fill(dw.values, 0.0);
  for_each_row(geometry(*x.shape, *dw.shape, *dy.shape, a), [&](const Row& row) {
    const double *px = &x[row.x], *py = &dy[row.y];
    double sum = 0;
    for (int64_t i = 0; i < row.count; ++i) sum += px[i * a.stride] * py[i];
    dw[row.w] += sum;
  });
  if (call.outputs.size() < 2) return;
  const auto& db = call.outputs[1];
  const int64_t pixels = dy.extent(2) * dy.extent(3);
  std::ranges::fill(db.values, 0.0);
  for (int64_t i = 0; i < dy.size(); ++i) db[i / pixels % dy.extent(1)] += dy[i];
}

constexpr Kernel table[] = {
    {OpKind::conv2d, forward},
    {OpKind::conv2d_backward_data, backward_data},
    {OpKind::conv2d_backward_weights, backward_weights},
};

}  // namespace

std::span<const Kernel> convolution() { return table; }

}  // namespace gpusizer::reference
