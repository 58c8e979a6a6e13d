// SPDX-License-Identifier: Apache-2.0
// One kernel template for everything that looks at one element at a time.
#include "workloads/backend/cuda/module/kernels/pointwise.hpp"

#include "workloads/backend/cuda/module/kernels/lanes.hpp"

namespace gpusizer::cuda {

namespace {

constexpr int threads = 256;

// Not fmaxf: a NaN must stay one.
__device__ inline float clipped(float x) { return x < 0 ? 0 : x; }

__device__ inline float normal_share(float x) { return 0.5f * (1 + erff(x * 0.70710678118654752f)); }

__device__ inline float gelu_slope(float x) {
  return normal_share(x) + x * 0.39894228040143268f * expf(-0.5f * x * x);
}

template <Pointwise what>
__device__ inline float result_of(float a, float b, float c, float factor) {
  switch (what) {
    case Pointwise::copy: return a;
    case Pointwise::scale:
    case Pointwise::scale_by: return factor * a;
    case Pointwise::relu: return clipped(a);
    case Pointwise::gelu: return a * normal_share(a);
    case Pointwise::tanh: return tanhf(a);
    case Pointwise::add: return a + b;
    case Pointwise::add_relu: return clipped(a + b);
    case Pointwise::relu_backward: return b > 0 ? a : 0;
    case Pointwise::relu_backward_sum: return b > 0 ? a + c : 0;
    case Pointwise::gelu_backward: return a * gelu_slope(b);
    case Pointwise::tanh_backward: return a * (1 - b * b);
  }
  return 0;
}

template <int operands, Pointwise what>
__global__ void __launch_bounds__(threads) pointwise_kernel(PointwiseCall call) {
  const float factor = what == Pointwise::scale_by ? *call.number : call.factor;
  const int64_t stride = static_cast<int64_t>(gridDim.x) * threads * lanes;
  for (int64_t at = (static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x) * lanes; at < call.count; at += stride) {
    float a[lanes], b[lanes] = {}, c[lanes] = {}, y[lanes];
    const bool whole = at + lanes <= call.count;
    if (whole) {
      const Raw raw_a = read_raw(call.a, at);
      const Raw raw_b = operands > 1 ? read_raw(call.b, at) : Raw{};
      const Raw raw_c = operands > 2 ? read_raw(call.c, at) : Raw{};
      widen(raw_a, call.a.element, a);
      if (operands > 1) widen(raw_b, call.b.element, b);
      if (operands > 2) widen(raw_c, call.c.element, c);
    } else {
      read_some(call.a, at, call.count, 0, a);
      if (operands > 1) read_some(call.b, at, call.count, 0, b);
      if (operands > 2) read_some(call.c, at, call.count, 0, c);
    }
    for (int i = 0; i < lanes; ++i) y[i] = result_of<what>(a[i], b[i], c[i], factor);
    if (whole)
      write_lanes(call.y, at, y);
    else
      write_some(call.y, at, call.count, y);
  }
}

template <int operands, Pointwise what>
cudaError_t start(const PointwiseCall& call, cudaStream_t stream) {
  constexpr int64_t most_blocks = 1 << 20;
  const LaunchShape shape{blocks_for(call.count < most_blocks * threads * lanes ? call.count : most_blocks * threads * lanes,
                                     threads * lanes),
                          dim3(threads)};
  return launch(pointwise_kernel<operands, what>, shape, stream, call);
}

}  // namespace

cudaError_t pointwise(const PointwiseCall& call, cudaStream_t stream) {
  if (call.count == 0) return cudaSuccess;
  switch (call.what) {
    case Pointwise::copy: return start<1, Pointwise::copy>(call, stream);
    case Pointwise::scale: return start<1, Pointwise::scale>(call, stream);
    case Pointwise::scale_by: return start<1, Pointwise::scale_by>(call, stream);
    case Pointwise::relu: return start<1, Pointwise::relu>(call, stream);
    case Pointwise::gelu: return start<1, Pointwise::gelu>(call, stream);
    case Pointwise::tanh: return start<1, Pointwise::tanh>(call, stream);
    case Pointwise::add: return start<2, Pointwise::add>(call, stream);
    case Pointwise::add_relu: return start<2, Pointwise::add_relu>(call, stream);
    case Pointwise::relu_backward: return start<2, Pointwise::relu_backward>(call, stream);
    case Pointwise::relu_backward_sum: return start<3, Pointwise::relu_backward_sum>(call, stream);
    case Pointwise::gelu_backward: return start<2, Pointwise::gelu_backward>(call, stream);
    case Pointwise::tanh_backward: return start<2, Pointwise::tanh_backward>(call, stream);
  }
  return cudaErrorInvalidValue;
}

}  // namespace gpusizer::cuda
