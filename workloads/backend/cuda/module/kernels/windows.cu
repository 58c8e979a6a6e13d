// SPDX-License-Identifier: Apache-2.0
// One thread for each element of the result; neighbours are neighbouring channels.
#include "workloads/backend/cuda/module/kernels/windows.hpp"

#include "workloads/backend/cuda/module/kernels/lanes.hpp"

namespace gpusizer::cuda {

namespace {

constexpr int threads = 256;

__device__ inline int64_t thread_number() { return static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x; }

// Where an element of [N, rows, columns, C] is.
struct Spot {
  int64_t n, row, column, channel;
  __device__ Spot(int64_t i, int64_t rows, int64_t columns, int64_t channels)
      : n(i / channels / columns / rows), row(i / channels / columns % rows), column(i / channels % columns),
        channel(i % channels) {}
};

__device__ inline int64_t pixel(const Windows& w, int64_t n, int64_t row, int64_t column) {
  return ((n * w.height + row) * w.width + column) * w.channels;
}
__device__ inline int64_t result(const Windows& w, int64_t n, int64_t row, int64_t column) {
  return (n * w.out_height + row) * w.out_width + column;
}

// The windows that see a row or column: results from `first` to `last`, by the tap `at + padding - result * stride`.
struct Seen {
  int64_t first, last;
  __device__ Seen(int64_t at, int64_t kernel, int64_t stride, int64_t padding, int64_t results) {
    const int64_t from = at + padding - kernel + 1;
    first = from <= 0 ? 0 : (from + stride - 1) / stride;
    last = (at + padding) / stride < results - 1 ? (at + padding) / stride : results - 1;
  }
};

__global__ void __launch_bounds__(threads) to_columns_kernel(Windows w, Array image, Array columns, int64_t count) {
  const int64_t i = thread_number();
  if (i >= count) return;
  const int64_t each = w.channels / w.groups, c = i % each, tap = i / each % (w.kernel_height * w.kernel_width);
  const int64_t group = i / each / (w.kernel_height * w.kernel_width) % w.groups;
  const Spot out(i / (w.channels * w.kernel_height * w.kernel_width), w.out_height, w.out_width, 1);
  const int64_t row = out.row * w.stride - w.padding + tap / w.kernel_width;
  const int64_t column = out.column * w.stride - w.padding + tap % w.kernel_width;
  const bool inside = row >= 0 && row < w.height && column >= 0 && column < w.width;
  write_one(columns, i, inside ? read_one(image, pixel(w, out.n, row, column) + group * each + c) : 0);
}

// Calls visit(result, tap) for each window that sees a pixel.
template <class Visit>
__device__ inline void for_windows(const Windows& w, const Spot& at, Visit visit) {
  const Seen rows(at.row, w.kernel_height, w.stride, w.padding, w.out_height);
  const Seen columns(at.column, w.kernel_width, w.stride, w.padding, w.out_width);
  for (int64_t p = rows.first; p <= rows.last; ++p)
    for (int64_t q = columns.first; q <= columns.last; ++q)
      visit(p, q,
            (at.row + w.padding - p * w.stride) * w.kernel_width + at.column + w.padding - q * w.stride);
}

__global__ void __launch_bounds__(threads) to_image_kernel(Windows w, Array columns, Array image, int64_t count) {
  const int64_t i = thread_number();
  if (i >= count) return;
  const Spot at(i, w.height, w.width, w.channels);
  const int64_t each = w.channels / w.groups, taps = w.kernel_height * w.kernel_width;
  float sum = 0;
  for_windows(w, at, [&](int64_t p, int64_t q, int64_t tap) {
    const int64_t row = result(w, at.n, p, q) * w.groups + at.channel / each;
    sum += read_one(columns, (row * taps + tap) * each + at.channel % each);
  });
  write_one(image, i, sum);
}

// Calls visit(element of x, tap) for the pixels of a window that are inside the image.
template <class Visit>
__device__ inline void for_pixels(const Windows& w, int64_t n, int64_t p, int64_t q, int64_t channel, Visit visit) {
  for (int64_t tap = 0; tap < w.kernel_height * w.kernel_width; ++tap) {
    const int64_t row = p * w.stride - w.padding + tap / w.kernel_width;
    const int64_t column = q * w.stride - w.padding + tap % w.kernel_width;
    if (row >= 0 && row < w.height && column >= 0 && column < w.width) visit(pixel(w, n, row, column) + channel, tap);
  }
}

__device__ inline int64_t pixels_of(const Windows& w, int64_t p, int64_t q) {
  const int64_t top = p * w.stride - w.padding, left = q * w.stride - w.padding;
  const int64_t bottom = top + w.kernel_height < w.height ? top + w.kernel_height : w.height;
  const int64_t right = left + w.kernel_width < w.width ? left + w.kernel_width : w.width;
  return (bottom - (top > 0 ? top : 0)) * (right - (left > 0 ? left : 0));
}

__global__ void __launch_bounds__(threads) max_kernel(Windows w, Array x, Array y, uint8_t* places, int64_t count) {
  const int64_t i = thread_number();
  if (i >= count) return;
  const Spot out(i, w.out_height, w.out_width, w.channels);
  float best = 0;
  int64_t place = -1;
  for_pixels(w, out.n, out.row, out.column, out.channel, [&](int64_t at, int64_t tap) {
    const float value = read_one(x, at);
    if (place < 0 || value > best || (isnan(value) && !isnan(best))) {
      best = value;
      place = tap;
    }
  });
  write_one(y, i, best);
  if (places) places[i] = static_cast<uint8_t>(place);
}

__global__ void __launch_bounds__(threads) max_backward_kernel(Windows w, Array dy, const uint8_t* places, Array dx,
                                                               int64_t count) {
  const int64_t i = thread_number();
  if (i >= count) return;
  const Spot at(i, w.height, w.width, w.channels);
  float sum = 0;
  for_windows(w, at, [&](int64_t p, int64_t q, int64_t tap) {
    const int64_t from = result(w, at.n, p, q) * w.channels + at.channel;
    if (places[from] == tap) sum += read_one(dy, from);
  });
  write_one(dx, i, sum);
}

__global__ void __launch_bounds__(threads) average_kernel(Windows w, Array x, Array y, int64_t count) {
  const int64_t i = thread_number();
  if (i >= count) return;
  const Spot out(i, w.out_height, w.out_width, w.channels);
  float sum = 0;
  for_pixels(w, out.n, out.row, out.column, out.channel, [&](int64_t at, int64_t) { sum += read_one(x, at); });
  write_one(y, i, sum / static_cast<float>(pixels_of(w, out.row, out.column)));
}

__global__ void __launch_bounds__(threads) average_backward_kernel(Windows w, Array dy, Array dx, int64_t count) {
  const int64_t i = thread_number();
  if (i >= count) return;
  const Spot at(i, w.height, w.width, w.channels);
  float sum = 0;
  for_windows(w, at, [&](int64_t p, int64_t q, int64_t) {
    sum += read_one(dy, result(w, at.n, p, q) * w.channels + at.channel) / static_cast<float>(pixels_of(w, p, q));
  });
  write_one(dx, i, sum);
}

int64_t image_elements(const Windows& w) { return w.batch * w.height * w.width * w.channels; }
int64_t result_elements(const Windows& w) { return w.results() * w.channels; }
LaunchShape shape_for(int64_t count) { return {blocks_for(count, threads), dim3(threads)}; }

}  // namespace

cudaError_t image_to_columns(const Windows& w, const Array& image, const Array& columns, cudaStream_t stream) {
  const int64_t count = result_elements(w) * w.taps();
  return launch(to_columns_kernel, shape_for(count), stream, w, image, columns, count);
}

cudaError_t columns_to_image(const Windows& w, const Array& columns, const Array& image, cudaStream_t stream) {
  return launch(to_image_kernel, shape_for(image_elements(w)), stream, w, columns, image, image_elements(w));
}

cudaError_t max_pool(const Windows& w, const Array& x, const Array& y, uint8_t* places, cudaStream_t stream) {
  return launch(max_kernel, shape_for(result_elements(w)), stream, w, x, y, places, result_elements(w));
}

cudaError_t max_pool_backward(const Windows& w, const Array& dy, const uint8_t* places, const Array& dx,
                              cudaStream_t stream) {
  return launch(max_backward_kernel, shape_for(image_elements(w)), stream, w, dy, places, dx, image_elements(w));
}

cudaError_t average_pool(const Windows& w, const Array& x, const Array& y, cudaStream_t stream) {
  return launch(average_kernel, shape_for(result_elements(w)), stream, w, x, y, result_elements(w));
}

cudaError_t average_pool_backward(const Windows& w, const Array& dy, const Array& dx, cudaStream_t stream) {
  return launch(average_backward_kernel, shape_for(image_elements(w)), stream, w, dy, dx, image_elements(w));
}

}  // namespace gpusizer::cuda
