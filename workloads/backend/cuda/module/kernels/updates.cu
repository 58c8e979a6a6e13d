// SPDX-License-Identifier: Apache-2.0
// Many tensors in one launch: a block looks up its chunk.
#include "workloads/backend/cuda/module/kernels/updates.hpp"

#include "workloads/backend/cuda/module/kernels/lanes.hpp"
#include "workloads/backend/cuda/module/kernels/reduce.hpp"

namespace gpusizer::cuda {

namespace {

constexpr int threads = 256;

__device__ inline float sign_of(float w) { return w > 0 ? 1.f : w < 0 ? -1.f : 0.f; }

__device__ inline Array floats(float* data) { return {data, Element::f32}; }

// Eight elements of everything that an update touches.
struct Eight {
  float w[lanes], g[lanes], first[lanes], second[lanes];
};

__device__ inline void read_eight(const Array& array, int64_t at, int64_t count, float (&v)[lanes]) {
  if (at + lanes <= count)
    read_lanes(array, at, v);
  else
    read_some(array, at, count, 0, v);
}
__device__ inline void write_eight(const Array& array, int64_t at, int64_t count, const float (&v)[lanes]) {
  if (at + lanes <= count)
    write_lanes(array, at, v);
  else
    write_some(array, at, count, v);
}

// The gradient as a rule wants it.
__device__ inline float gradient_of(const Update& u, float factor, float g, float w, float decay) {
  return factor * g + decay * w + u.l1 * sign_of(w);
}

// Corrections of Adam's averages for the steps taken.
struct Corrections {
  float first = 1, second = 1;
  __device__ explicit Corrections(const UpdateCall& call) {
    if (!call.steps) return;
    first = -expm1f(*call.steps * call.log_beta1);  // 1 - beta^steps
    second = -expm1f(*call.steps * call.log_beta2);
  }
};

__device__ inline float averages_change(const UpdateCall& call, const Corrections& corrections, float m, float v) {
  return m / corrections.first / (sqrtf(v / corrections.second) + call.epsilon);
}

// Moves m and v, and returns the update without the learning rate.
__device__ inline float adam_change(const UpdateCall& call, const Corrections& corrections, float g, float& m, float& v) {
  m = call.beta1 * m + call.rest1 * g;
  v = call.beta2 * v + call.rest2 * g * g;
  return averages_change(call, corrections, m, v);
}

template <Rule rule>
__device__ inline void change(const UpdateCall& call, const Update& u, const Corrections& corrections, float rate,
                              float factor, float& w, float g, float& first, float& second) {
  if (rule == Rule::sgd) {
    float step = gradient_of(u, factor, g, w, u.weight_decay);
    if (u.first) step = first = call.momentum * first + step;
    w -= rate * step;
  } else if (rule == Rule::adam) {
    const float update = adam_change(call, corrections, gradient_of(u, factor, g, w, call.decoupled ? 0 : u.weight_decay),
                                     first, second);
    if (call.decoupled) w -= rate * u.weight_decay * w;
    w -= rate * update;
  } else {
    const float step = gradient_of(u, factor, g, w, u.weight_decay);
    first += step * step;
    w -= rate * step / (sqrtf(first) + call.epsilon);
  }
}

template <Rule rule>
__global__ void __launch_bounds__(threads) update_kernel(UpdateCall call) {
  const float factor = call.factor ? *call.factor : 1;
  if (factor == 0) return;
  const Chunk chunk = call.chunks[blockIdx.x];
  const Update u = call.updates[chunk.tensor];
  const Corrections corrections(call);
  const float rate = *call.learning_rate;
  const int64_t from = static_cast<int64_t>(chunk.number) * chunk_elements;
  const int64_t end = from + chunk_elements < u.count ? from + chunk_elements : u.count;
  for (int64_t at = from + static_cast<int64_t>(threadIdx.x) * lanes; at < end; at += threads * lanes) {
    Eight e{};
    read_eight(floats(u.parameter), at, u.count, e.w);
    read_eight(u.gradient, at, u.count, e.g);
    if (u.first) read_eight(floats(u.first), at, u.count, e.first);
    if (u.second) read_eight(floats(u.second), at, u.count, e.second);
    for (int i = 0; i < lanes; ++i)
      change<rule>(call, u, corrections, rate, factor, e.w[i], e.g[i], e.first[i], e.second[i]);
    write_eight(floats(u.parameter), at, u.count, e.w);
    if (u.first) write_eight(floats(u.first), at, u.count, e.first);
    if (u.second) write_eight(floats(u.second), at, u.count, e.second);
    if (u.short_parameter.data) write_eight(u.short_parameter, at, u.count, e.w);
  }
}

// LAMB, first pass: moves m and v; the sums of squares of the chunk's weights and of their changes.
__global__ void __launch_bounds__(threads) lamb_norms_kernel(UpdateCall call) {
  const float factor = call.factor ? *call.factor : 1;
  if (factor == 0) return;
  const Chunk chunk = call.chunks[blockIdx.x];
  const Update u = call.updates[chunk.tensor];
  const Corrections corrections(call);
  const int64_t from = static_cast<int64_t>(chunk.number) * chunk_elements;
  const int64_t end = from + chunk_elements < u.count ? from + chunk_elements : u.count;
  float weights = 0, updates = 0;
  for (int64_t at = from + threadIdx.x; at < end; at += threads) {
    const float w = u.parameter[at];
    const float g = gradient_of(u, factor, read_one(u.gradient, at), w, 0);
    const float update = adam_change(call, corrections, g, u.first[at], u.second[at]) + u.weight_decay * w;
    weights += w * w;
    updates += update * update;
  }
  weights = block_sum(weights);
  updates = block_sum(updates);
  if (threadIdx.x > 0) return;
  call.norms[2 * blockIdx.x] = weights;
  call.norms[2 * blockIdx.x + 1] = updates;
}

// The ratio of both norms of each tensor: a block for each.
__global__ void __launch_bounds__(threads) lamb_ratios_kernel(UpdateCall call) {
  const Update& u = call.updates[blockIdx.x];
  const int64_t chunks = (u.count + chunk_elements - 1) / chunk_elements;
  float weights = 0, updates = 0;
  for (int64_t i = threadIdx.x; i < chunks; i += threads) {
    weights += call.norms[2 * (u.first_chunk + i)];
    updates += call.norms[2 * (u.first_chunk + i) + 1];
  }
  weights = block_sum(weights);
  updates = block_sum(updates);
  if (threadIdx.x == 0)
    call.norms[2 * call.chunk_count + blockIdx.x] = weights > 0 && updates > 0 ? sqrtf(weights / updates) : 1;
}

// Second pass: the change once more, from the averages, so that nobody has to keep it.
__global__ void __launch_bounds__(threads) lamb_apply_kernel(UpdateCall call) {
  if (call.factor && *call.factor == 0) return;
  const Chunk chunk = call.chunks[blockIdx.x];
  const Update u = call.updates[chunk.tensor];
  const Corrections corrections(call);
  const float rate = *call.learning_rate * call.norms[2 * call.chunk_count + chunk.tensor];
  const int64_t from = static_cast<int64_t>(chunk.number) * chunk_elements;
  const int64_t end = from + chunk_elements < u.count ? from + chunk_elements : u.count;
  for (int64_t at = from + threadIdx.x; at < end; at += threads) {
    const float w = u.parameter[at];
    const float changed = w - rate * (averages_change(call, corrections, u.first[at], u.second[at]) + u.weight_decay * w);
    u.parameter[at] = changed;
    if (u.short_parameter.data) write_one(u.short_parameter, at, changed);
  }
}

__global__ void __launch_bounds__(threads) squares_kernel(NormCall call) {
  const Chunk chunk = call.chunks[blockIdx.x];
  const Summand s = call.summands[chunk.tensor];
  const int64_t from = static_cast<int64_t>(chunk.number) * chunk_elements;
  const int64_t end = from + chunk_elements < s.count ? from + chunk_elements : s.count;
  float sum = 0;
  for (int64_t at = from + static_cast<int64_t>(threadIdx.x) * lanes; at < end; at += threads * lanes) {
    float v[lanes];
    read_eight(s.values, at, s.count, v);
    for (int i = 0; i < lanes; ++i) sum += v[i] * v[i];
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) call.partials[blockIdx.x] = static_cast<double>(sum);
}

__device__ inline void finish_norm(const NormCall& call, double squares) {
  if (call.squares) *call.squares = static_cast<float>(squares);
  if (!call.factor) return;
  const float scale = call.loss_scale ? *call.loss_scale : 1;
  const float norm = static_cast<float>(sqrt(squares)) / scale;
  const float clipped = call.clip > 0 && norm > call.clip ? call.clip / norm : 1;
  *call.factor = isfinite(norm) ? clipped / scale : 0;
  *call.norm = norm;
}

// The chunks' sums, in double and in a fixed order.
__global__ void __launch_bounds__(threads) norm_kernel(NormCall call) {
  __shared__ double sums[threads];
  double sum = 0;
  for (int32_t i = static_cast<int32_t>(threadIdx.x); i < call.chunk_count; i += threads) sum += call.partials[i];
  sums[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x > 0) return;
  sum = 0;
  for (int i = 0; i < threads; ++i) sum += sums[i];
  finish_norm(call, sum);
}

__global__ void factor_kernel(const float* squares, NormCall call) { finish_norm(call, static_cast<double>(*squares)); }

__global__ void count_step_kernel(float* steps, const float* factor) {
  if (!factor || *factor != 0) *steps += 1;
}

__global__ void loss_scale_kernel(LossScaleCall call) {
  if (*call.factor == 0) {
    *call.scale = fmaxf(1.f, *call.scale * call.backoff);
    *call.good = 0;
  } else if (++*call.good >= call.interval) {
    *call.scale = fminf(*call.scale * call.growth, call.largest);
    *call.good = 0;
  }
}

__global__ void divide_kernel(float* quotient, const float* a, const float* b) { *quotient = *b != 0 ? *a / *b : 0; }

__global__ void __launch_bounds__(threads) count_labels_kernel(float* count, const int32_t* labels, int64_t label_count) {
  float sum = 0;
  for (int64_t i = threadIdx.x; i < label_count; i += threads) sum += labels[i] >= 0 ? 1.f : 0.f;
  sum = block_sum(sum);
  if (threadIdx.x == 0) *count = sum;
}

LaunchShape chunks_of(int32_t count) { return {dim3(static_cast<unsigned>(count)), dim3(threads)}; }

cudaError_t lamb(const UpdateCall& call, cudaStream_t stream) {
  if (const cudaError_t error = launch(lamb_norms_kernel, chunks_of(call.chunk_count), stream, call)) return error;
  if (const cudaError_t error = launch(lamb_ratios_kernel, chunks_of(call.update_count), stream, call)) return error;
  return launch(lamb_apply_kernel, chunks_of(call.chunk_count), stream, call);
}

}  // namespace

cudaError_t update_parameters(const UpdateCall& call, cudaStream_t stream) {
  switch (call.rule) {
    case Rule::sgd: return launch(update_kernel<Rule::sgd>, chunks_of(call.chunk_count), stream, call);
    case Rule::adam: return launch(update_kernel<Rule::adam>, chunks_of(call.chunk_count), stream, call);
    case Rule::adagrad: return launch(update_kernel<Rule::adagrad>, chunks_of(call.chunk_count), stream, call);
    case Rule::lamb: return lamb(call, stream);
  }
  return cudaErrorInvalidValue;
}

cudaError_t gradient_norm(const NormCall& call, cudaStream_t stream) {
  if (const cudaError_t error = launch(squares_kernel, chunks_of(call.chunk_count), stream, call)) return error;
  return launch(norm_kernel, {dim3(1), dim3(threads)}, stream, call);
}

cudaError_t norm_factor(const float* squares, const NormCall& call, cudaStream_t stream) {
  return launch(factor_kernel, {dim3(1), dim3(1)}, stream, squares, call);
}

cudaError_t count_step(float* steps, const float* factor, cudaStream_t stream) {
  return launch(count_step_kernel, {dim3(1), dim3(1)}, stream, steps, factor);
}

cudaError_t update_loss_scale(const LossScaleCall& call, cudaStream_t stream) {
  return launch(loss_scale_kernel, {dim3(1), dim3(1)}, stream, call);
}

cudaError_t divide(float* quotient, const float* a, const float* b, cudaStream_t stream) {
  return launch(divide_kernel, {dim3(1), dim3(1)}, stream, quotient, a, b);
}

cudaError_t count_labels(float* count, const int32_t* labels, int64_t label_count, cudaStream_t stream) {
  return launch(count_labels_kernel, {dim3(1), dim3(threads)}, stream, count, labels, label_count);
}

}  // namespace gpusizer::cuda
