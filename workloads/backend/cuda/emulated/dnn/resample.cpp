// SPDX-License-Identifier: Apache-2.0
// Pooling in cuDNN graphs: the greatest or the mean of a window, and what goes back through it.
#include <cmath>
#include <stdexcept>

#include "workloads/backend/cuda/emulated/dnn/tensor.hpp"

namespace gpusizer::emulated {
namespace {

struct Pooling {
  cudnnResampleMode_t mode;
  Dims window, before, strides, image, result;  // by spatial dimension
  int64_t planes = 0, pixels = 0, outputs = 0;
};

Pooling pooling_of(const DnnDescriptor& resample, const DnnTensor& x, const DnnTensor& y) {
  Pooling p{resample.value<cudnnResampleMode_t>(CUDNN_ATTR_RESAMPLE_MODE),
            resample.whole(CUDNN_ATTR_RESAMPLE_WINDOW_DIMS),
            resample.whole(CUDNN_ATTR_RESAMPLE_PRE_PADDINGS),
            resample.whole(CUDNN_ATTR_RESAMPLE_STRIDES),
            Dims(x.dims.begin() + 2, x.dims.end()),
            Dims(y.dims.begin() + 2, y.dims.end())};
  const bool known = p.mode == CUDNN_RESAMPLE_MAXPOOL || p.mode == CUDNN_RESAMPLE_AVGPOOL_INCLUDE_PADDING ||
                     p.mode == CUDNN_RESAMPLE_AVGPOOL_EXCLUDE_PADDING;
  if (!known) throw std::runtime_error("only pooling is emulated of all resampling");
  if (p.window.size() != p.image.size() || p.result.size() != p.image.size())
    throw std::runtime_error("a pooling window has the wrong rank");
  p.planes = x.dims[0] * x.dims[1];
  p.pixels = product_of(p.image);
  p.outputs = product_of(p.result);
  if (y.dims[0] * y.dims[1] != p.planes) throw std::runtime_error("pooling keeps images and channels");
  return p;
}

// Calls visit(output, place in the window, pixel) for every pixel that a window covers.
template <class Visit>
void for_each_covered(const Pooling& p, const Visit& visit) {
  for_each_index(p.result, [&](int64_t output, const Dims& o) {
    for_each_index(p.window, [&](int64_t place, const Dims& t) {
      int64_t pixel = 0;
      for (size_t d = 0; d < p.image.size(); ++d) {
        const int64_t at = o[d] * p.strides[d] - p.before[d] + t[d];
        if (at < 0 || at >= p.image[d]) return;
        pixel = pixel * p.image[d] + at;
      }
      visit(output, place, pixel);
    });
  });
}

// By how much the sum of each window is divided.
Values divisors(const Pooling& p) {
  Values counts(static_cast<size_t>(p.outputs), 0.0f);
  if (p.mode == CUDNN_RESAMPLE_AVGPOOL_INCLUDE_PADDING)
    counts.assign(counts.size(), static_cast<float>(product_of(p.window)));
  else
    for_each_covered(p, [&](int64_t output, int64_t, int64_t) { counts[static_cast<size_t>(output)] += 1; });
  return counts;
}

struct Greatest {
  Values value, place;         // of each output
  std::vector<int64_t> pixel;  // of each output, within its plane
};

// The first of equal values wins, as everywhere in this program.
Greatest greatest(const Pooling& p, const Values& x) {
  const auto count = static_cast<size_t>(p.planes * p.outputs);
  Greatest found{Values(count, -INFINITY), Values(count, 0.0f), std::vector<int64_t>(count, -1)};
  for_each_covered(p, [&](int64_t output, int64_t place, int64_t pixel) {
    for (int64_t plane = 0; plane < p.planes; ++plane) {
      const auto to = static_cast<size_t>(plane * p.outputs + output);
      const float value = x[static_cast<size_t>(plane * p.pixels + pixel)];
      if (found.pixel[to] >= 0 && !(value > found.value[to]) && !std::isnan(value)) continue;
      found.value[to] = value;
      found.place[to] = static_cast<float>(place);
      found.pixel[to] = pixel;
    }
  });
  return found;
}

Values means(const Pooling& p, const Values& x) {
  const Values by = divisors(p);
  Values y(static_cast<size_t>(p.planes * p.outputs), 0.0f);
  for_each_covered(p, [&](int64_t output, int64_t, int64_t pixel) {
    for (int64_t plane = 0; plane < p.planes; ++plane)
      y[static_cast<size_t>(plane * p.outputs + output)] += x[static_cast<size_t>(plane * p.pixels + pixel)];
  });
  for (size_t i = 0; i < y.size(); ++i) y[i] /= by[i % by.size()];
  return y;
}

Values back_through_means(const Pooling& p, const Values& dy) {
  const Values by = divisors(p);
  Values dx(static_cast<size_t>(p.planes * p.pixels), 0.0f);
  for_each_covered(p, [&](int64_t output, int64_t, int64_t pixel) {
    for (int64_t plane = 0; plane < p.planes; ++plane)
      dx[static_cast<size_t>(plane * p.pixels + pixel)] +=
          dy[static_cast<size_t>(plane * p.outputs + output)] / by[static_cast<size_t>(output)];
  });
  return dx;
}

Values back_to_places(const Pooling& p, const Values& dy, const Values& places) {
  Values dx(static_cast<size_t>(p.planes * p.pixels), 0.0f);
  for_each_covered(p, [&](int64_t output, int64_t place, int64_t pixel) {
    for (int64_t plane = 0; plane < p.planes; ++plane) {
      const auto from = static_cast<size_t>(plane * p.outputs + output);
      if (static_cast<int64_t>(places[from]) == place) dx[static_cast<size_t>(plane * p.pixels + pixel)] += dy[from];
    }
  });
  return dx;
}

}  // namespace

void run_resample(const DnnDescriptor& op, GraphValues& values) {
  const DnnTensor x = tensor_of(*op.descriptor(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_XDESC));
  const DnnTensor y = tensor_of(*op.descriptor(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_YDESC));
  const Pooling p = pooling_of(*op.descriptor(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_DESC), x, y);
  if (p.mode != CUDNN_RESAMPLE_MAXPOOL) return values.put(y, means(p, values.get(x)));
  const Greatest found = greatest(p, values.get(x));
  if (const DnnPointer places = op.descriptor(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_IDXDESC))
    values.put(tensor_of(*places), found.place);
  values.put(y, found.value);
}

void run_resample_backward(const DnnDescriptor& op, GraphValues& values) {
  const DnnTensor dx = tensor_of(*op.descriptor(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DXDESC));
  const DnnTensor dy = tensor_of(*op.descriptor(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DYDESC));
  const Pooling p = pooling_of(*op.descriptor(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DESC), dx, dy);
  if (p.mode != CUDNN_RESAMPLE_MAXPOOL) return values.put(dx, back_through_means(p, values.get(dy)));
  const DnnPointer places = op.descriptor(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_IDXDESC);
  const DnnPointer x = op.descriptor(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_XDESC);
  if (!places && !x) throw std::runtime_error("the gradient of max pooling needs the places or x");
  const Values chosen = places ? values.get(tensor_of(*places)) : greatest(p, values.get(tensor_of(*x))).place;
  values.put(dx, back_to_places(p, values.get(dy), chosen));
}

}  // namespace gpusizer::emulated
