// SPDX-License-Identifier: Apache-2.0
// Normalizations of cuDNN graphs: batch, layer, instance and RMS, told apart by the shape of their statistics.
#include <cmath>
#include <stdexcept>

#include "workloads/backend/cuda/emulated/dnn/tensor.hpp"

namespace gpusizer::emulated {
namespace {

// Sums over everything that shares an entry of a tensor of `dims`.
template <class Value>
std::vector<double> sums_over(const Dims& dims, const DnnTensor& x, const Value& value) {
  std::vector<double> sums(static_cast<size_t>(product_of(dims)), 0.0);
  for_each_index(x.dims, [&](int64_t i, const Dims& index) {
    const auto to = static_cast<size_t>(broadcast_position(dims, index, x.dims));
    sums[to] += value(static_cast<size_t>(i), to);
  });
  return sums;
}

Values to_floats(const std::vector<double>& values) { return Values(values.begin(), values.end()); }

// One number of a tensor that is passed by value.
double scalar(const DnnDescriptor& op, int name, GraphValues& values) {
  const DnnPointer tensor = op.descriptor(name);
  if (!tensor) throw std::runtime_error("a norm lacks attribute " + std::to_string(name));
  return static_cast<double>(values.get(tensor_of(*tensor)).front());
}

struct Statistics {
  std::vector<double> mean, variance, inverse;  // 1 / sqrt(variance + epsilon)
};

// Batch norm shares statistics per channel, layer and RMS norm per row: all but the dimensions that scale spans.
Dims shape_of_statistics(const DnnDescriptor& op, cudnnBackendNormMode_t mode, const DnnTensor& x, int mean,
                         int inverse, const DnnTensor& scale) {
  for (const int name : {mean, inverse})
    if (const DnnPointer tensor = op.descriptor(name)) return tensor_of(*tensor).dims;
  if (mode == CUDNN_BATCH_NORM) return scale.dims;
  Dims dims = x.dims;
  for (size_t d = 0; d < dims.size(); ++d)
    if (scale.dims[d] != 1 || d > 0) dims[d] = 1;
  return dims;
}

Statistics measure(const Dims& dims, const DnnTensor& tensor, const Values& x, bool centred, double epsilon) {
  const auto each = static_cast<double>(tensor.count()) / static_cast<double>(product_of(dims));
  Statistics s;
  s.mean.assign(static_cast<size_t>(product_of(dims)), 0.0);
  if (centred) {
    s.mean = sums_over(dims, tensor, [&](size_t i, size_t) { return static_cast<double>(x[i]); });
    for (double& m : s.mean) m /= each;
  }
  s.variance = sums_over(dims, tensor, [&](size_t i, size_t to) {
    const double d = static_cast<double>(x[i]) - s.mean[to];
    return d * d;
  });
  for (double& v : s.variance) {
    v /= each;
    s.inverse.push_back(1 / std::sqrt(v + epsilon));
  }
  return s;
}

void put_if_wanted(const DnnDescriptor& op, int name, const std::vector<double>& from, GraphValues& values) {
  if (const DnnPointer tensor = op.descriptor(name)) values.put(tensor_of(*tensor), to_floats(from));
}

// running = (1 - factor) running + factor batch, where the variance is that of a sample.
void update_running(const DnnDescriptor& op, const Statistics& s, double each, GraphValues& values) {
  const DnnPointer mean_in = op.descriptor(CUDNN_ATTR_OPERATION_NORM_FWD_INPUT_RUNNING_MEAN_DESC);
  const DnnPointer variance_in = op.descriptor(CUDNN_ATTR_OPERATION_NORM_FWD_INPUT_RUNNING_VAR_DESC);
  if (!mean_in || !variance_in) return;
  const double factor = scalar(op, CUDNN_ATTR_OPERATION_NORM_FWD_EXP_AVG_FACTOR_DESC, values);
  const double sample = each > 1 ? each / (each - 1) : 1;
  const Values mean = values.get(tensor_of(*mean_in)), variance = values.get(tensor_of(*variance_in));
  std::vector<double> new_mean, new_variance;
  for (size_t i = 0; i < s.mean.size(); ++i) {
    new_mean.push_back((1 - factor) * static_cast<double>(mean[i]) + factor * s.mean[i]);
    new_variance.push_back((1 - factor) * static_cast<double>(variance[i]) + factor * sample * s.variance[i]);
  }
  put_if_wanted(op, CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_MEAN_DESC, new_mean, values);
  put_if_wanted(op, CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_VAR_DESC, new_variance, values);
}

std::vector<double> given(const DnnDescriptor& op, int name, size_t count, GraphValues& values) {
  const DnnPointer tensor = op.descriptor(name);
  if (!tensor) return std::vector<double>(count, 0.0);
  const Values& v = values.get(tensor_of(*tensor));
  return {v.begin(), v.end()};
}

Statistics forward_statistics(const DnnDescriptor& op, const DnnTensor& x, const Dims& dims, bool centred,
                              GraphValues& values) {
  const auto phase = op.value<cudnnBackendNormFwdPhase_t>(CUDNN_ATTR_OPERATION_NORM_FWD_PHASE);
  const auto count = static_cast<size_t>(product_of(dims));
  const bool has_given = op.has(CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC);
  if (phase == CUDNN_NORM_FWD_INFERENCE && has_given)
    return {given(op, CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC, count, values),
            {},
            given(op, CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC, count, values)};
  const Statistics s =
      measure(dims, x, values.get(x), centred, scalar(op, CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC, values));
  if (phase == CUDNN_NORM_FWD_INFERENCE) return s;
  put_if_wanted(op, CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC, s.mean, values);
  put_if_wanted(op, CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC, s.inverse, values);
  update_running(op, s, static_cast<double>(x.count()) / static_cast<double>(count), values);
  return s;
}

}  // namespace

void run_norm(const DnnDescriptor& op, GraphValues& values) {
  const auto mode = op.value<cudnnBackendNormMode_t>(CUDNN_ATTR_OPERATION_NORM_FWD_MODE);
  const DnnTensor x = tensor_of(*op.descriptor(CUDNN_ATTR_OPERATION_NORM_FWD_XDESC));
  const DnnTensor y = tensor_of(*op.descriptor(CUDNN_ATTR_OPERATION_NORM_FWD_YDESC));
  const DnnTensor scale = tensor_of(*op.descriptor(CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC));
  const Dims dims = shape_of_statistics(op, mode, x, CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC,
                                        CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC, scale);
  const Statistics s = forward_statistics(op, x, dims, mode != CUDNN_RMS_NORM, values);
  const DnnPointer bias = op.descriptor(CUDNN_ATTR_OPERATION_NORM_FWD_BIAS_DESC);
  const Values scales = values.get(scale), biases = bias ? values.get(tensor_of(*bias)) : Values(scales.size(), 0.0f);
  const Values& from = values.get(x);
  Values result(from.size());
  for_each_index(x.dims, [&](int64_t i, const Dims& index) {
    const auto at = static_cast<size_t>(i), stat = static_cast<size_t>(broadcast_position(dims, index, x.dims));
    const auto weight = static_cast<size_t>(broadcast_position(scale.dims, index, x.dims));
    const double normal = (static_cast<double>(from[at]) - s.mean[stat]) * s.inverse[stat];
    result[at] = static_cast<float>(normal * static_cast<double>(scales[weight]) + static_cast<double>(biases[weight]));
  });
  values.put(y, std::move(result));
}

void run_norm_backward(const DnnDescriptor& op, GraphValues& values) {
  const auto mode = op.value<cudnnBackendNormMode_t>(CUDNN_ATTR_OPERATION_NORM_BWD_MODE);
  const bool centred = mode != CUDNN_RMS_NORM;
  const DnnTensor x = tensor_of(*op.descriptor(CUDNN_ATTR_OPERATION_NORM_BWD_XDESC));
  const DnnTensor scale = tensor_of(*op.descriptor(CUDNN_ATTR_OPERATION_NORM_BWD_SCALE_DESC));
  const Dims dims = shape_of_statistics(op, mode, x, CUDNN_ATTR_OPERATION_NORM_BWD_MEAN_DESC,
                                        CUDNN_ATTR_OPERATION_NORM_BWD_INV_VARIANCE_DESC, scale);
  const auto count = static_cast<size_t>(product_of(dims));
  Statistics s;
  if (op.has(CUDNN_ATTR_OPERATION_NORM_BWD_INV_VARIANCE_DESC)) {
    s.mean = given(op, CUDNN_ATTR_OPERATION_NORM_BWD_MEAN_DESC, count, values);
    s.inverse = given(op, CUDNN_ATTR_OPERATION_NORM_BWD_INV_VARIANCE_DESC, count, values);
  } else {
    s = measure(dims, x, values.get(x), centred, scalar(op, CUDNN_ATTR_OPERATION_NORM_BWD_EPSILON_DESC, values));
  }
  const Values from = values.get(x), scales = values.get(scale),
               dy = values.get(tensor_of(*op.descriptor(CUDNN_ATTR_OPERATION_NORM_BWD_DYDESC)));
  std::vector<double> normal(from.size()), slope(from.size());
  for_each_index(x.dims, [&](int64_t i, const Dims& index) {
    const auto at = static_cast<size_t>(i), stat = static_cast<size_t>(broadcast_position(dims, index, x.dims));
    const auto weight = static_cast<size_t>(broadcast_position(scale.dims, index, x.dims));
    normal[at] = (static_cast<double>(from[at]) - s.mean[stat]) * s.inverse[stat];
    slope[at] = static_cast<double>(dy[at]) * static_cast<double>(scales[weight]);
  });
  const auto sum = sums_over(dims, x, [&](size_t i, size_t) { return slope[i]; });
  const auto correlation = sums_over(dims, x, [&](size_t i, size_t) { return slope[i] * normal[i]; });
  const auto each = static_cast<double>(x.count()) / static_cast<double>(count);
  Values dx(from.size());
  for_each_index(x.dims, [&](int64_t i, const Dims& index) {
    const auto at = static_cast<size_t>(i), stat = static_cast<size_t>(broadcast_position(dims, index, x.dims));
    const double mean = centred ? sum[stat] / each : 0;
    dx[at] = static_cast<float>(s.inverse[stat] * (slope[at] - mean - normal[at] * correlation[stat] / each));
  });
  put_if_wanted(op, CUDNN_ATTR_OPERATION_NORM_BWD_DSCALE_DESC,
                sums_over(scale.dims, x, [&](size_t i, size_t) { return static_cast<double>(dy[i]) * normal[i]; }),
                values);
  put_if_wanted(op, CUDNN_ATTR_OPERATION_NORM_BWD_DBIAS_DESC,
                sums_over(scale.dims, x, [&](size_t i, size_t) { return static_cast<double>(dy[i]); }), values);
  values.put(tensor_of(*op.descriptor(CUDNN_ATTR_OPERATION_NORM_BWD_DXDESC)), std::move(dx));
}

}  // namespace gpusizer::emulated
