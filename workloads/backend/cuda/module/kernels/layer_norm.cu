// SPDX-License-Identifier: Apache-2.0
// One warp for each row; the gradients of scale and shift are sums over rows.
#include "workloads/backend/cuda/module/kernels/layer_norm.hpp"

#include "workloads/backend/cuda/module/kernels/column_partials.hpp"
#include "workloads/backend/cuda/module/kernels/reduce.hpp"

namespace gpusizer::cuda {

namespace {

constexpr int rows_of_block = 4;
constexpr int64_t span = warp * lanes;  // columns that a warp reads at once

// Eight values of a row, from registers or from memory: `vectors` is how many of them a thread keeps, 0 for none.
template <int vectors>
struct Row {
  const Array& x;
  int64_t row, width;
  bool whole;
  float kept[vectors > 0 ? vectors : 1][lanes];

  __device__ Row(const Array& array, int64_t r, int64_t w) : x(array), row(r), width(w), whole(w % lanes == 0) {
    if constexpr (vectors > 0)
      for (int v = 0; v < vectors; ++v) read(v, kept[v]);
  }
  __device__ int64_t column(int64_t v) const { return (v * warp + threadIdx.x) * lanes; }
  __device__ int64_t count() const { return vectors > 0 ? vectors : (width + span - 1) / span; }
  __device__ void get(int64_t v, float (&values)[lanes]) const {
    if constexpr (vectors > 0)
      for (int i = 0; i < lanes; ++i) values[i] = kept[v][i];
    else
      read(v, values);
  }
  __device__ void read(int64_t v, float (&values)[lanes]) const {
    if (column(v) < width) {
      read_row(x, row, column(v), width, whole, 0, values);
    } else {
      for (float& value : values) value = 0;
    }
  }
};

template <int vectors>
__global__ void __launch_bounds__(warp * rows_of_block, 4) forward_kernel(LayerNormCall call) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * rows_of_block + threadIdx.y;
  if (row >= call.rows) return;  // a whole warp
  const Row<vectors> x(call.x, row, call.width);
  const int64_t count = x.count();
  float sum = 0, squares = 0;
#pragma unroll
  for (int64_t v = 0; v < count; ++v) {
    float values[lanes];
    x.get(v, values);
    for (int i = 0; i < lanes; ++i) sum += values[i];
  }
  const float mean = warp_sum(sum) / static_cast<float>(call.width);
#pragma unroll
  for (int64_t v = 0; v < count; ++v) {
    float values[lanes];
    x.get(v, values);
    for (int i = 0; i < lanes; ++i)
      if (x.column(v) + i < call.width) squares += (values[i] - mean) * (values[i] - mean);
  }
  const float inverse = 1 / sqrtf(warp_sum(squares) / static_cast<float>(call.width) + call.epsilon);
  if (threadIdx.x == 0 && call.saved) {
    call.saved[2 * row] = mean;
    call.saved[2 * row + 1] = inverse;
  }
#pragma unroll
  for (int64_t v = 0; v < count; ++v) {
    if (x.column(v) >= call.width) continue;
    float values[lanes], scale[lanes], shift[lanes];
    x.get(v, values);
    read_row(call.scale, 0, x.column(v), call.width, x.whole, 0, scale);
    read_row(call.shift, 0, x.column(v), call.width, x.whole, 0, shift);
    for (int i = 0; i < lanes; ++i) values[i] = (values[i] - mean) * inverse * scale[i] + shift[i];
    write_row(call.y, row, x.column(v), call.width, x.whole, values);
  }
}

template <int vectors>
__global__ void __launch_bounds__(warp * rows_of_block, 4) backward_kernel(LayerNormBackwardCall call) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * rows_of_block + threadIdx.y;
  if (row >= call.rows) return;
  const float mean = call.saved[2 * row], inverse = call.saved[2 * row + 1];
  const Row<vectors> x(call.x, row, call.width), dy(call.dy, row, call.width);
  const int64_t count = x.count();
  float sum = 0, product = 0;
#pragma unroll
  for (int64_t v = 0; v < count; ++v) {
    if (x.column(v) >= call.width) continue;
    float values[lanes], gradients[lanes], scale[lanes];
    x.get(v, values);
    dy.get(v, gradients);
    read_row(call.scale, 0, x.column(v), call.width, x.whole, 0, scale);
    for (int i = 0; i < lanes; ++i) {
      sum += gradients[i] * scale[i];
      product += gradients[i] * scale[i] * (values[i] - mean) * inverse;
    }
  }
  sum = warp_sum(sum) / static_cast<float>(call.width);
  product = warp_sum(product) / static_cast<float>(call.width);
#pragma unroll
  for (int64_t v = 0; v < count; ++v) {
    if (x.column(v) >= call.width) continue;
    float values[lanes], gradients[lanes], scale[lanes], dx[lanes];
    x.get(v, values);
    dy.get(v, gradients);
    read_row(call.scale, 0, x.column(v), call.width, x.whole, 0, scale);
    for (int i = 0; i < lanes; ++i)
      dx[i] = inverse * (gradients[i] * scale[i] - sum - (values[i] - mean) * inverse * product);
    write_row(call.dx, row, x.column(v), call.width, x.whole, dx);
  }
}

// What a row adds to the gradients of scale and shift.
struct Parameters {
  static constexpr int quantities = 2;
  Array dy, x;
  const float* saved;
  int64_t width;
  __device__ void operator()(int64_t row, int64_t column, bool whole, float (&v)[2][lanes]) const {
    float values[lanes];
    read_row(x, row, column, width, whole, 0, values);
    read_row(dy, row, column, width, whole, 0, v[1]);
    const float mean = saved[2 * row], inverse = saved[2 * row + 1];
    for (int i = 0; i < lanes; ++i) v[0][i] = v[1][i] * (values[i] - mean) * inverse;
  }
};

__global__ void parameters_kernel(ColumnPlan plan, LayerNormBackwardCall call) {
  const float scale = column_total(plan, call.partials, 0, 2, 0), shift = column_total(plan, call.partials, 0, 2, 1);
  if (threadIdx.y > 0 || totals_column() >= plan.columns) return;
  write_one(call.dscale, totals_column(), scale);
  write_one(call.dshift, totals_column(), shift);
}

template <class Call>
cudaError_t by_rows(const Call& call, void (*one)(Call), void (*two)(Call), void (*four)(Call), void (*any)(Call),
                    cudaStream_t stream) {
  const LaunchShape shape{blocks_for(call.rows, rows_of_block), dim3(warp, rows_of_block)};
  return launch(call.width <= span       ? one
                : call.width <= 2 * span ? two
                : call.width <= 4 * span ? four
                                         : any,
                shape, stream, call);
}

}  // namespace

int64_t layer_norm_partial_floats(int64_t rows, int64_t width) { return ColumnPlan(rows, width).partial_floats(2); }

cudaError_t layer_norm(const LayerNormCall& call, cudaStream_t stream) {
  return by_rows<LayerNormCall>(call, forward_kernel<1>, forward_kernel<2>, forward_kernel<4>, forward_kernel<0>, stream);
}

cudaError_t layer_norm_backward(const LayerNormBackwardCall& call, cudaStream_t stream) {
  if (const cudaError_t error = by_rows<LayerNormBackwardCall>(call, backward_kernel<1>, backward_kernel<2>,
                                                               backward_kernel<4>, backward_kernel<0>, stream))
    return error;
  const ColumnPlan plan(call.rows, call.width);
  if (const cudaError_t error =
          column_partials(plan, Parameters{call.dy, call.x, call.saved, call.width}, call.partials, stream))
    return error;
  return launch(parameters_kernel, totals_shape(plan), stream, plan, call);
}

}  // namespace gpusizer::cuda
