// SPDX-License-Identifier: Apache-2.0
// One block for each row of logits; the rows' results are added by one block, in order.
#include "workloads/backend/cuda/module/kernels/losses.hpp"

#include "workloads/backend/cuda/module/kernels/lanes.hpp"
#include "workloads/backend/cuda/module/kernels/reduce.hpp"

namespace gpusizer::cuda {

namespace {

constexpr int threads = 256;
constexpr int row_numbers = 4;  // of a row: its loss, whether it is correct, whether it counts; one to spare

// Calls visit(class, value) for this thread's share of a row.
template <class Visit>
__device__ inline void for_row(const Array& logits, int64_t row, int64_t classes, Visit visit) {
  const bool whole = classes % lanes == 0;
  for (int64_t at = static_cast<int64_t>(threadIdx.x) * lanes; at < classes; at += threads * lanes) {
    float values[lanes];
    read_row(logits, row, at, classes, whole, 0, values);
    for (int i = 0; i < lanes; ++i)
      if (at + i < classes) visit(at + i, values[i]);
  }
}

// The smallest class of those whose logit is the largest.
__device__ inline int64_t first_of(const Array& logits, int64_t row, int64_t classes, float largest) {
  float first = static_cast<float>(classes);  // exact up to 2^24 classes
  for_row(logits, row, classes, [&](int64_t k, float value) {
    if (value == largest && static_cast<float>(k) < first) first = static_cast<float>(k);
  });
  return static_cast<int64_t>(-block_max(-first));
}

__global__ void __launch_bounds__(threads) rows_kernel(CrossEntropyCall call) {
  const int64_t row = blockIdx.x;
  const int32_t label = call.labels[row];
  const bool counts = !call.ignores || label >= 0;
  float largest = -INFINITY, sum = 0, total = 0;
  for_row(call.logits, row, call.classes, [&](int64_t, float value) { largest = fmaxf(largest, value); });
  largest = block_max(largest);
  for_row(call.logits, row, call.classes, [&](int64_t, float value) {
    sum += expf(value - largest);
    total += value - largest;
  });
  sum = block_sum(sum);
  if (call.smoothing > 0) total = block_sum(total);
  const float log_sum = logf(sum);
  const int64_t first = first_of(call.logits, row, call.classes, largest);
  if (threadIdx.x > 0) return;
  if (call.saved) {
    call.saved[2 * row] = largest;
    call.saved[2 * row + 1] = log_sum;
  }
  float loss = 0;
  if (counts && label < call.classes) {
    const float at_label = read_one(call.logits, row * call.classes + label) - largest - log_sum;
    loss = -(1 - call.smoothing) * at_label;
    if (call.smoothing > 0) loss -= call.smoothing * (total / static_cast<float>(call.classes) - log_sum);
  }
  float* numbers = call.row_losses + row * row_numbers;
  numbers[0] = loss;
  numbers[1] = counts && first == label ? 1.f : 0.f;
  numbers[2] = counts ? 1.f : 0.f;
}

__global__ void __launch_bounds__(threads) finish_kernel(CrossEntropyCall call) {
  float loss = 0, correct = 0, count = 0;
  for (int64_t row = threadIdx.x; row < call.rows; row += threads) {
    const float* numbers = call.row_losses + row * row_numbers;
    loss += numbers[0];
    correct += numbers[1];
    count += numbers[2];
  }
  loss = block_sum(loss);
  correct = block_sum(correct);
  count = block_sum(count);
  if (threadIdx.x > 0) return;
  *call.loss = count > 0 ? loss / count : 0;
  *call.correct = correct;
  if (call.count) *call.count = count;
  if (call.saved) call.saved[2 * call.rows] = count;
}

__global__ void __launch_bounds__(threads) backward_kernel(CrossEntropyBackwardCall call) {
  const int64_t row = blockIdx.x;
  const int32_t label = call.labels[row];
  const bool counts = !call.ignores || label >= 0, whole = call.classes % lanes == 0;
  const float largest = call.saved[2 * row], log_sum = call.saved[2 * row + 1];
  const float each = counts ? *call.dloss / call.saved[2 * call.rows] : 0;
  const float everywhere = call.smoothing / static_cast<float>(call.classes);
  for (int64_t at = static_cast<int64_t>(threadIdx.x) * lanes; at < call.classes; at += threads * lanes) {
    float values[lanes];
    read_row(call.logits, row, at, call.classes, whole, 0, values);
    for (int i = 0; i < lanes; ++i) {
      const float share = (at + i == label ? 1 - call.smoothing : 0) + everywhere;
      values[i] = counts ? each * (expf(values[i] - largest - log_sum) - share) : 0;
    }
    write_row(call.dx, row, at, call.classes, whole, values);
  }
}

// What one prediction costs, and how far it is off (only where it is the middle quantile, or there are none).
__device__ inline void cost_of(const RegressionCall& call, int64_t at, float& cost, float& error) {
  const float p = read_one(call.prediction, at);
  if (call.quantile_count == 0) {
    const float d = p - read_one(call.target, at);
    cost = d * d;
    error = fabsf(d);
    return;
  }
  const int which = static_cast<int>(at % call.quantile_count);
  const float q = call.quantiles[which], d = read_one(call.target, at / call.quantile_count) - p;
  cost = d * (d < 0 ? q - 1 : q);
  error = which == call.quantile_count / 2 ? fabsf(d) : 0;
}

__device__ inline int64_t predictions_of(const RegressionCall& call) {
  return call.count * (call.quantile_count > 0 ? call.quantile_count : 1);
}

__global__ void __launch_bounds__(threads) costs_kernel(RegressionCall call) {
  float costs = 0, errors = 0;
  const int64_t count = predictions_of(call), stride = static_cast<int64_t>(gridDim.x) * threads;
  for (int64_t at = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x; at < count; at += stride) {
    float cost, error;
    cost_of(call, at, cost, error);
    costs += cost;
    errors += error;
  }
  costs = block_sum(costs);
  errors = block_sum(errors);
  if (threadIdx.x > 0) return;
  call.partials[2 * blockIdx.x] = costs;
  call.partials[2 * blockIdx.x + 1] = errors;
}

__global__ void __launch_bounds__(threads) mean_kernel(RegressionCall call, int blocks) {
  const bool mine = static_cast<int>(threadIdx.x) < blocks;
  const float costs = block_sum(mine ? call.partials[2 * threadIdx.x] : 0);
  const float errors = block_sum(mine ? call.partials[2 * threadIdx.x + 1] : 0);
  if (threadIdx.x > 0) return;
  *call.loss = costs / static_cast<float>(predictions_of(call));
  *call.absolute_error = errors / static_cast<float>(call.count);
}

__global__ void __launch_bounds__(threads) slopes_kernel(RegressionCall call) {
  const int64_t at = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x, count = predictions_of(call);
  if (at >= count) return;
  const float p = read_one(call.prediction, at);
  float slope;
  if (call.quantile_count == 0) {
    slope = 2 * (p - read_one(call.target, at));
  } else {
    const float q = call.quantiles[at % call.quantile_count], d = read_one(call.target, at / call.quantile_count) - p;
    slope = d > 0 ? -q : d < 0 ? 1 - q : d;  // the last one is 0, or stays NaN
  }
  write_one(call.dx, at, *call.dloss * slope / static_cast<float>(count));
}

}  // namespace

cudaError_t cross_entropy(const CrossEntropyCall& call, cudaStream_t stream) {
  const dim3 rows(static_cast<unsigned>(call.rows));
  if (const cudaError_t error = launch(rows_kernel, {rows, dim3(threads)}, stream, call)) return error;
  return launch(finish_kernel, {dim3(1), dim3(threads)}, stream, call);
}

cudaError_t cross_entropy_backward(const CrossEntropyBackwardCall& call, cudaStream_t stream) {
  return launch(backward_kernel, {dim3(static_cast<unsigned>(call.rows)), dim3(threads)}, stream, call);
}

cudaError_t regression_loss(const RegressionCall& call, cudaStream_t stream) {
  const int64_t all = call.count * (call.quantile_count > 0 ? call.quantile_count : 1);
  const int blocks = static_cast<int>(all / threads + 1 < 256 ? all / threads + 1 : 256);
  if (const cudaError_t error = launch(costs_kernel, {dim3(static_cast<unsigned>(blocks)), dim3(threads)}, stream, call))
    return error;
  return launch(mean_kernel, {dim3(1), dim3(threads)}, stream, call, blocks);
}

cudaError_t regression_backward(const RegressionCall& call, cudaStream_t stream) {
  const int64_t all = call.count * (call.quantile_count > 0 ? call.quantile_count : 1);
  return launch(slopes_kernel, {blocks_for(all, threads), dim3(threads)}, stream, call);
}

}  // namespace gpusizer::cuda
