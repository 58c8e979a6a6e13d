// SPDX-License-Identifier: Apache-2.0
// Sums by channel over chunks of rows, their totals, and one pass that applies them.
#include "workloads/backend/cuda/module/kernels/batch_norm.hpp"

#include "workloads/backend/cuda/module/kernels/column_partials.hpp"

namespace gpusizer::cuda {

namespace {

constexpr int threads = 256;

// Sums of x and x^2, each less the group's first value of the channel, so that little is lost where the mean is large.
struct Moments {
  static constexpr int quantities = 2;
  Array x;
  int64_t rows, columns;
  __device__ void operator()(int64_t row, int64_t column, bool whole, float (&v)[2][lanes]) const {
    float first[lanes];
    read_row(x, row, column, columns, whole, 0, v[0]);
    read_row(x, row / rows * rows, column, columns, whole, 0, first);
    for (int i = 0; i < lanes; ++i) {
      v[0][i] -= first[i];
      v[1][i] = v[0][i] * v[0][i];
    }
  }
};

__global__ void statistics_kernel(BatchNormCall call) {
  const ColumnPlan& plan = call.plan;
  const int64_t channel = totals_column();
  const bool writes = threadIdx.y == 0 && channel < plan.columns;
  const float count = static_cast<float>(plan.rows), groups = static_cast<float>(plan.groups);
  float mean = 0, variance = 0;
  for (int64_t group = 0; group < plan.groups; ++group) {
    const float sum = column_total(plan, call.partials, group, 2, 0) / count;
    const float squares = column_total(plan, call.partials, group, 2, 1) / count;
    if (!writes) continue;
    const float one = read_one(call.x, group * plan.rows * plan.columns + channel) + sum;
    float spread = squares - sum * sum;
    if (spread < 0) spread = 0;  // rounding; what is no number stays none
    call.mean[group * plan.columns + channel] = one;
    call.inverse[group * plan.columns + channel] = 1 / sqrtf(spread + call.epsilon);
    mean += one / groups;
    variance += spread * count / (count - 1) / groups;
  }
  if (!writes || !call.running_mean) return;
  call.running_mean[channel] += call.momentum * (mean - call.running_mean[channel]);
  call.running_variance[channel] += call.momentum * (variance - call.running_variance[channel]);
}

__global__ void __launch_bounds__(threads) apply_kernel(BatchNormCall call, bool training) {
  const int64_t columns = call.plan.columns, count = call.plan.groups * call.plan.rows * columns;
  const int64_t at = (static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x) * lanes;
  if (at >= count) return;
  const bool whole = at + lanes <= count;
  float v[lanes], residual[lanes] = {};
  if (whole) {
    read_lanes(call.x, at, v);
    if (call.residual.data) read_lanes(call.residual, at, residual);
  } else {
    read_some(call.x, at, count, 0, v);
    if (call.residual.data) read_some(call.residual, at, count, 0, residual);
  }
  unsigned bits = 0;
  int64_t c = at % columns, group = at / columns / call.plan.rows;
  for (int i = 0; i < lanes && at + i < count; ++i) {
    const float mean = training ? call.mean[group * columns + c] : call.running_mean[c];
    const float inverse =
        training ? call.inverse[group * columns + c] : 1 / sqrtf(call.running_variance[c] + call.epsilon);
    v[i] = (v[i] - mean) * inverse * read_one(call.scale, c) + read_one(call.shift, c) + residual[i];
    if (v[i] > 0) bits |= 1u << i;
    if (call.relu && v[i] < 0) v[i] = 0;
    if (++c == columns) {
      c = 0;
      group = (at + i + 1) / columns / call.plan.rows;
    }
  }
  if (call.mask) call.mask[at / lanes] = static_cast<uint8_t>(bits);
  if (whole)
    write_lanes(call.y, at, v);
  else
    write_some(call.y, at, count, v);
}

// The gradient that reaches the normalised value.
struct Arriving {
  Array dy, second;
  const uint8_t* mask;
  __device__ float of(float one, float other, int64_t at) const {
    if (mask && !(mask[at / 8] >> (at % 8) & 1)) return 0;
    return one + other;
  }
};

struct Products {
  static constexpr int quantities = 2;
  Arriving arriving;
  Array x;
  const float *mean, *inverse;
  int64_t rows, columns;
  __device__ void operator()(int64_t row, int64_t column, bool whole, float (&v)[2][lanes]) const {
    float values[lanes], other[lanes] = {};
    read_row(arriving.dy, row, column, columns, whole, 0, v[0]);
    if (arriving.second.data) read_row(arriving.second, row, column, columns, whole, 0, other);
    read_row(x, row, column, columns, whole, 0, values);
    for (int i = 0; i < lanes && column + i < columns; ++i) {
      const int64_t at = row / rows * columns + column + i;
      v[0][i] = arriving.of(v[0][i], other[i], row * columns + column + i);
      v[1][i] = v[0][i] * (values[i] - mean[at]) * inverse[at];
    }
  }
};

__global__ void sums_kernel(BatchNormBackwardCall call) {
  const ColumnPlan& plan = call.plan;
  const int64_t channel = totals_column();
  const bool writes = threadIdx.y == 0 && channel < plan.columns;
  float sum = 0, product = 0;
  for (int64_t group = 0; group < plan.groups; ++group) {
    const float one = column_total(plan, call.partials, group, 2, 0), other = column_total(plan, call.partials, group, 2, 1);
    if (!writes) continue;
    call.sums[2 * group * plan.columns + channel] = one;
    call.sums[(2 * group + 1) * plan.columns + channel] = other;
    sum += one;
    product += other;
  }
  if (!writes) return;
  write_one(call.dscale, channel, product);
  write_one(call.dshift, channel, sum);
}

__global__ void __launch_bounds__(threads) apply_backward_kernel(BatchNormBackwardCall call) {
  const int64_t columns = call.plan.columns, count = call.plan.groups * call.plan.rows * columns;
  const int64_t at = (static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x) * lanes;
  if (at >= count) return;
  const bool whole = at + lanes <= count, two = call.second_dy.data != nullptr;
  const Arriving arriving{call.dy, call.second_dy, call.mask};
  const float rows = static_cast<float>(call.plan.rows);
  float dy[lanes], other[lanes] = {}, x[lanes], dx[lanes] = {};
  if (whole) {
    read_lanes(call.dy, at, dy);
    if (two) read_lanes(call.second_dy, at, other);
    read_lanes(call.x, at, x);
  } else {
    read_some(call.dy, at, count, 0, dy);
    if (two) read_some(call.second_dy, at, count, 0, other);
    read_some(call.x, at, count, 0, x);
  }
  for (int i = 0; i < lanes && at + i < count; ++i) {
    const int64_t c = (at + i) % columns, group = (at + i) / columns / call.plan.rows, place = group * columns + c;
    const float normalised = (x[i] - call.mean[place]) * call.inverse[place];
    dy[i] = arriving.of(dy[i], other[i], at + i);
    dx[i] = read_one(call.scale, c) * call.inverse[place] *
            (dy[i] - call.sums[2 * group * columns + c] / rows - normalised * call.sums[(2 * group + 1) * columns + c] / rows);
  }
  if (whole) {
    write_lanes(call.dx, at, dx);
    if (call.dresidual.data) write_lanes(call.dresidual, at, dy);
  } else {
    write_some(call.dx, at, count, dx);
    if (call.dresidual.data) write_some(call.dresidual, at, count, dy);
  }
}

LaunchShape all_elements(const ColumnPlan& plan) {
  return {blocks_for(plan.groups * plan.rows * plan.columns, threads * lanes), dim3(threads)};
}

}  // namespace

cudaError_t batch_norm_training(const BatchNormCall& call, cudaStream_t stream) {
  const Moments moments{call.x, call.plan.rows, call.plan.columns};
  if (const cudaError_t error = column_partials(call.plan, moments, call.partials, stream)) return error;
  if (const cudaError_t error = launch(statistics_kernel, totals_shape(call.plan), stream, call)) return error;
  return launch(apply_kernel, all_elements(call.plan), stream, call, true);
}

cudaError_t batch_norm_inference(const BatchNormCall& call, cudaStream_t stream) {
  return launch(apply_kernel, all_elements(call.plan), stream, call, false);
}

cudaError_t batch_norm_backward(const BatchNormBackwardCall& call, cudaStream_t stream) {
  const Products products{{call.dy, call.second_dy, call.mask}, call.x, call.mean, call.inverse, call.plan.rows,
                          call.plan.columns};
  if (const cudaError_t error = column_partials(call.plan, products, call.partials, stream)) return error;
  if (const cudaError_t error = launch(sums_kernel, totals_shape(call.plan), stream, call)) return error;
  return launch(apply_backward_kernel, all_elements(call.plan), stream, call);
}

}  // namespace gpusizer::cuda
