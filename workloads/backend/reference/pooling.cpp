// SPDX-License-Identifier: Apache-2.0
// Max and average pooling with their gradients, and flatten, which only copies.
#include <algorithm>
#include <cmath>

#include "workloads/backend/reference/kernels.hpp"

namespace gpusizer::reference {

namespace {

// One result and the part of its window that lies inside the image.
struct Window {
  int64_t result;                   // index in y
  int64_t plane;                    // index in x of its image's first pixel
  int64_t top, bottom, left, right;  // rows and columns, the last ones excluded
  int64_t width;                    // of the image

  template <class Visit>
  void each(Visit visit) const {  // row-major, so that "first" means the topmost, then the leftmost
    for (int64_t h = top; h < bottom; ++h)
      for (int64_t w = left; w < right; ++w) visit(plane + h * width + w);
  }
  int64_t pixels() const { return (bottom - top) * (right - left); }
};

template <class Visit>
void for_each_window(const Shape& x, const Shape& y, const PoolAttributes& a, Visit visit) {
  for (int64_t i = 0; i < element_count(y); ++i) {
    const int64_t q = i % y[3], p = i / y[3] % y[2], plane = i / (y[3] * y[2]);
    const int64_t top = p * a.stride - a.padding, left = q * a.stride - a.padding;
    visit(Window{i, plane * x[2] * x[3], std::max<int64_t>(top, 0), std::min(top + a.kernel, x[2]),
                 std::max<int64_t>(left, 0), std::min(left + a.kernel, x[3]), x[3]});
  }
}

// Max pooling keeps, for each result, which element of x it was.
int64_t saved_elements(const Program& p, const Operation& op) { return element_count(p.tensor(op.outputs[0]).shape); }

// x -> y, saved
void max_forward(const Call& call) {
  const auto& x = call.inputs[0];
  for_each_window(*x.shape, *call.outputs[0].shape, call.attributes<PoolAttributes>(), [&](const Window& window) {
    int64_t best = -1;
    window.each([&](int64_t i) {
      if (best < 0 || x[i] > x[best] || (std::isnan(x[i]) && !std::isnan(x[best]))) best = i;
    });
    call.outputs[0][window.result] = x[best];
    call.outputs[1][window.result] = static_cast<double>(best);
  });
}

// (dy, saved) -> dx
void max_backward(const Call& call) {
  const auto &dy = call.inputs[0], &saved = call.inputs[1];
  std::ranges::fill(call.outputs[0].values, 0.0);
  for (int64_t i = 0; i < dy.size(); ++i) call.outputs[0][static_cast<int64_t>(saved[i])] += dy[i];
}

// x -> y
void average_forward(const Call& call) {
  const auto& x = call.inputs[0];
  for_each_window(*x.shape, *call.outputs[0].shape, call.attributes<PoolAttributes>(), [&](const Window& window) {
    double sum = 0;
    window.each([&](int64_t i) { sum += x[i]; });
    call.outputs[0][window.result] = sum / static_cast<double>(window.pixels());
  });
}

// dy -> dx
void average_backward(const Call& call) {
  const auto& dy = call.inputs[0];
  const auto& dx = call.outputs[0];
  std::ranges::fill(dx.values, 0.0);
  for_each_window(*dx.shape, *dy.shape, call.attributes<PoolAttributes>(), [&](const Window& window) {
    window.each([&](int64_t i) { dx[i] += dy[window.result] / static_cast<double>(window.pixels()); });
  });
}

void copy(const Call& call) { std::ranges::copy(call.inputs[0].values, call.outputs[0].values.begin()); }

constexpr Kernel table[] = {
    {OpKind::max_pool, max_forward, saved_elements},
    {OpKind::max_pool_backward, max_backward},
    {OpKind::avg_pool, average_forward},
    {OpKind::avg_pool_backward, average_backward},
    {OpKind::flatten, copy},
    {OpKind::flatten_backward, copy},
};

}  // namespace

std::span<const Kernel> pooling() { return table; }

}  // namespace gpusizer::reference
