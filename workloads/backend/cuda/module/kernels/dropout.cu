// SPDX-License-Identifier: Apache-2.0
// Each thread draws for eight elements, which is one byte of what was kept.
#include "workloads/backend/cuda/module/kernels/dropout.hpp"

#include "workloads/backend/cuda/module/kernels/lanes.hpp"
#include "workloads/backend/cuda/module/kernels/philox.hpp"

namespace gpusizer::cuda {

namespace {

constexpr int threads = 256;

// The number of an element that lies at `at`.
__device__ inline int64_t number_of(const DropoutCall& call, int64_t at) {
  if (call.pixels == 0) return at;
  const int64_t channel = at % call.channels, pixel = at / call.channels % call.pixels;
  return (at / (call.channels * call.pixels) * call.channels + channel) * call.pixels + pixel;
}

__device__ inline unsigned draw_eight(const DropoutCall& call, int64_t at) {
  unsigned bits = 0;
  if (call.pixels > 0) {
    for (int i = 0; i < lanes; ++i)
      if (at + i < call.count) bits |= static_cast<unsigned>(keeps(call.draw, static_cast<uint64_t>(number_of(call, at + i)))) << i;
    return bits;
  }
  for (int half = 0; half < 2; ++half) {
    const uint4 words = dropout_words(call.draw, static_cast<uint64_t>(at / 4 + half));
    for (int i = 0; i < 4; ++i) bits |= static_cast<unsigned>(word_of(words, i) >= call.draw.threshold) << (4 * half + i);
  }
  return bits;
}

template <bool forward>
__global__ void __launch_bounds__(threads) dropout_kernel(DropoutCall call) {
  const int64_t at = (static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x) * lanes;
  if (at >= call.count) return;
  const bool whole = at + lanes <= call.count, adds = call.residual.data != nullptr;
  float x[lanes], residual[lanes] = {}, y[lanes];
  if (whole) {
    const Raw raw = read_raw(call.x, at), raw_residual = adds ? read_raw(call.residual, at) : Raw{};
    widen(raw, call.x.element, x);
    if (adds) widen(raw_residual, call.residual.element, residual);
  } else {
    read_some(call.x, at, call.count, 0, x);
    if (adds) read_some(call.residual, at, call.count, 0, residual);
  }
  const unsigned bits = forward ? draw_eight(call, at) : call.kept[at / lanes];
  if (forward && call.kept) call.kept[at / lanes] = static_cast<uint8_t>(bits);
  // Multiplied by 0, not replaced: what is no number stays none.
  for (int i = 0; i < lanes; ++i) y[i] = x[i] * (bits >> i & 1u ? call.draw.scale : 0.f) + residual[i];
  if (whole)
    write_lanes(call.y, at, y);
  else
    write_some(call.y, at, call.count, y);
}

}  // namespace

cudaError_t dropout(const DropoutCall& call, cudaStream_t stream) {
  return launch(dropout_kernel<true>, {blocks_for(call.count, threads * lanes), dim3(threads)}, stream, call);
}

cudaError_t dropout_backward(const DropoutCall& call, cudaStream_t stream) {
  return launch(dropout_kernel<false>, {blocks_for(call.count, threads * lanes), dim3(threads)}, stream, call);
}

}  // namespace gpusizer::cuda
