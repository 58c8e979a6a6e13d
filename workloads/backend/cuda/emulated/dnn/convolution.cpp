// SPDX-License-Identifier: Apache-2.0
// Convolutions of any number of dimensions, with groups: forward, and the gradients of data and filter, as products.
#include <stdexcept>

#include "workloads/backend/cuda/emulated/dnn/tensor.hpp"
#include "workloads/backend/cuda/emulated/numbers/product.hpp"

namespace gpusizer::emulated {
namespace {

struct ConvolutionShape {
  DnnTensor x, w, y;                         // x [n, c, ...], w [k, c / groups, ...], y [n, k, ...]
  int64_t batch, groups, channels, filters;  // the last two of one group
  int64_t pixels, taps, outputs;
  std::vector<int64_t> source;  // [outputs, taps]: the pixel that is read, or -1
  std::vector<int64_t> target;  // [pixels, taps]: the output that reads it, or -1
};

Dims spatial(const DnnTensor& t) { return Dims(t.dims.begin() + 2, t.dims.end()); }

void fill_tables(ConvolutionShape& s, const DnnDescriptor& convolution) {
  const Dims pads = convolution.list<int64_t>(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS);
  const Dims strides = convolution.list<int64_t>(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES);
  const Dims dilations = convolution.list<int64_t>(CUDNN_ATTR_CONVOLUTION_DILATIONS);
  const Dims image = spatial(s.x), window = spatial(s.w), result = spatial(s.y);
  s.source.assign(static_cast<size_t>(s.outputs * s.taps), -1);
  s.target.assign(static_cast<size_t>(s.pixels * s.taps), -1);
  for_each_index(result, [&](int64_t output, const Dims& o) {
    for_each_index(window, [&](int64_t tap, const Dims& t) {
      int64_t pixel = 0;
      for (size_t d = 0; d < image.size(); ++d) {
        const int64_t at = o[d] * strides[d] - pads[d] + t[d] * dilations[d];
        if (at < 0 || at >= image[d]) return;
        pixel = pixel * image[d] + at;
      }
      s.source[static_cast<size_t>(output * s.taps + tap)] = pixel;
      s.target[static_cast<size_t>(pixel * s.taps + tap)] = output;
    });
  });
}

// Padding behind the image only has to be what the output's size says.
void check_sizes(const ConvolutionShape& s, const DnnDescriptor& c) {
  const Dims before = c.list<int64_t>(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS);
  const Dims after = c.list<int64_t>(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS);
  const Dims strides = c.list<int64_t>(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES);
  const Dims dilations = c.list<int64_t>(CUDNN_ATTR_CONVOLUTION_DILATIONS);
  const Dims image = spatial(s.x), window = spatial(s.w), result = spatial(s.y);
  for (size_t d = 0; d < image.size(); ++d) {
    const int64_t reach = (window[d] - 1) * dilations[d] + 1;
    if (result[d] != (image[d] + before[d] + after[d] - reach) / strides[d] + 1)
      throw std::runtime_error("a convolution's output has the wrong size");
  }
  if (s.y.dims[0] != s.batch || s.x.dims[1] % s.channels || s.w.dims[0] % s.groups || s.y.dims[1] != s.w.dims[0])
    throw std::runtime_error("a convolution's channels or images do not fit");
  if (c.value<cudnnConvolutionMode_t>(CUDNN_ATTR_CONVOLUTION_CONV_MODE) != CUDNN_CROSS_CORRELATION)
    throw std::runtime_error("only cross-correlation is emulated");
}

ConvolutionShape shape_of_convolution(const DnnDescriptor& op, int x, int w, int y, int convolution) {
  ConvolutionShape s{tensor_of(*op.descriptor(x)),
                     tensor_of(*op.descriptor(w)),
                     tensor_of(*op.descriptor(y)),
                     0,
                     0,
                     0,
                     0,
                     0,
                     0,
                     0,
                     {},
                     {}};
  s.batch = s.x.dims[0];
  s.channels = s.w.dims[1];
  s.groups = s.x.dims[1] / s.channels;
  s.filters = s.w.dims[0] / s.groups;
  s.pixels = product_of(spatial(s.x));
  s.taps = product_of(spatial(s.w));
  s.outputs = product_of(spatial(s.y));
  check_sizes(s, *op.descriptor(convolution));
  fill_tables(s, *op.descriptor(convolution));
  return s;
}

float picked(const float* from, int64_t position) { return position < 0 ? 0.0f : from[position]; }

Values forward(const ConvolutionShape& s, const Values& x, const Values& w) {
  Values y(static_cast<size_t>(s.y.count()));
  const int64_t depth = s.channels * s.taps;
  for (int64_t g = 0; g < s.groups; ++g) {
    const float* weights = w.data() + g * s.filters * depth;
    const auto right =
        pack_vectors(s.filters, depth, right_tile, [&](int64_t k, int64_t p) { return weights[k * depth + p]; });
    for (int64_t n = 0; n < s.batch; ++n) {
      const float* image = x.data() + (n * s.groups + g) * s.channels * s.pixels;
      const auto left = pack_vectors(s.outputs, depth, left_tile, [&](int64_t o, int64_t p) {
        return picked(image + p / s.taps * s.pixels, s.source[static_cast<size_t>(o * s.taps + p % s.taps)]);
      });
      const Values sums = inner_products(left, right);  // [filters, outputs]
      std::copy(sums.begin(), sums.end(), y.begin() + (n * s.groups + g) * s.filters * s.outputs);
    }
  }
  return y;
}

Values gradient_of_data(const ConvolutionShape& s, const Values& dy, const Values& w) {
  Values dx(static_cast<size_t>(s.x.count()));
  const int64_t depth = s.filters * s.taps;
  for (int64_t g = 0; g < s.groups; ++g) {
    const float* weights = w.data() + g * s.filters * s.channels * s.taps;
    const auto right = pack_vectors(s.channels, depth, right_tile, [&](int64_t c, int64_t p) {
      return weights[(p / s.taps * s.channels + c) * s.taps + p % s.taps];
    });
    for (int64_t n = 0; n < s.batch; ++n) {
      const float* gradient = dy.data() + (n * s.groups + g) * s.filters * s.outputs;
      const auto left = pack_vectors(s.pixels, depth, left_tile, [&](int64_t pixel, int64_t p) {
        return picked(gradient + p / s.taps * s.outputs, s.target[static_cast<size_t>(pixel * s.taps + p % s.taps)]);
      });
      const Values sums = inner_products(left, right);  // [channels, pixels]
      std::copy(sums.begin(), sums.end(), dx.begin() + (n * s.groups + g) * s.channels * s.pixels);
    }
  }
  return dx;
}

Values gradient_of_filter(const ConvolutionShape& s, const Values& x, const Values& dy) {
  Values dw(static_cast<size_t>(s.w.count()));
  const int64_t depth = s.batch * s.outputs;
  for (int64_t g = 0; g < s.groups; ++g) {
    const auto right = pack_vectors(s.filters, depth, right_tile, [&](int64_t k, int64_t p) {
      return dy[static_cast<size_t>(((p / s.outputs * s.groups + g) * s.filters + k) * s.outputs + p % s.outputs)];
    });
    const auto left = pack_vectors(s.channels * s.taps, depth, left_tile, [&](int64_t row, int64_t p) {
      const float* image = x.data() + ((p / s.outputs * s.groups + g) * s.channels + row / s.taps) * s.pixels;
      return picked(image, s.source[static_cast<size_t>(p % s.outputs * s.taps + row % s.taps)]);
    });
    const Values sums = inner_products(left, right);  // [filters, channels * taps]
    std::copy(sums.begin(), sums.end(), dw.begin() + g * s.filters * s.channels * s.taps);
  }
  return dw;
}

// alpha * result + beta * what is there, as every convolution may ask for.
Values blend(const DnnDescriptor& op, int alpha_name, int beta_name, const DnnTensor& to, Values result,
             GraphValues& values) {
  const auto alpha = static_cast<float>(op.number(alpha_name, 1)), beta = static_cast<float>(op.number(beta_name, 0));
  const Values before = beta == 0 ? Values(result.size(), 0.0f) : values.get(to);
  for (size_t i = 0; i < result.size(); ++i) result[i] = alpha * result[i] + beta * before[i];
  return result;
}

}  // namespace

void run_convolution(const DnnDescriptor& op, GraphValues& values) {
  if (op.type == CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR) {
    const auto s = shape_of_convolution(
        op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
        CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC);
    values.put(s.y,
               blend(op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
                     s.y, forward(s, values.get(s.x), values.get(s.w)), values));
  } else if (op.type == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR) {
    const auto s = shape_of_convolution(
        op, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC);
    values.put(
        s.x, blend(op, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA,
                   s.x, gradient_of_data(s, values.get(s.y), values.get(s.w)), values));
  } else {
    const auto s = shape_of_convolution(
        op, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC);
    values.put(s.w, blend(op, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
                          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA, s.w,
                          gradient_of_filter(s, values.get(s.x), values.get(s.y)), values));
  }
}

}  // namespace gpusizer::emulated
