// SPDX-License-Identifier: Apache-2.0
// One warp for each row of probabilities.
#include "workloads/backend/cuda/module/kernels/attention.hpp"

#include "workloads/backend/cuda/module/kernels/lanes.hpp"
#include "workloads/backend/cuda/module/kernels/philox.hpp"
#include "workloads/backend/cuda/module/kernels/reduce.hpp"

namespace gpusizer::cuda {

namespace {

constexpr int rows_of_block = 4;
constexpr int64_t span = warp * lanes;

// A row: the query `row % sequence` of head `row / sequence % heads` of sample `row / sequence / heads`.
struct Place {
  int64_t row, sample, seen;  // keys that are looked at
  uint64_t first_number;      // of its elements, as dropout counts them

  __device__ explicit Place(const AttentionCall& call)
      : row(static_cast<int64_t>(blockIdx.x) * rows_of_block + threadIdx.y), sample(row / call.sequence / call.heads) {
    const int64_t head = row / call.sequence % call.heads + call.first_head, query = row % call.sequence;
    seen = call.lengths && row < rows(call) ? call.lengths[sample] : call.sequence;
    first_number = static_cast<uint64_t>(((sample * call.all_heads + head) * call.sequence + query) * call.sequence);
  }
  __device__ static int64_t rows(const AttentionCall& call) { return call.batch * call.heads * call.sequence; }
};

template <class Visit>
__device__ inline void for_keys(const AttentionCall& call, Visit visit) {
  for (int64_t at = static_cast<int64_t>(threadIdx.x) * lanes; at < call.sequence; at += span) visit(at);
}

// The sign of a probability says whether it was dropped; -0 is one too.
__device__ inline bool was_dropped(float kept) { return (__float_as_uint(kept) & 0x80000000u) != 0; }

__device__ inline unsigned dropped_bits(const AttentionCall& call, const Place& place, int64_t at) {
  unsigned bits = 0;
  if (place.first_number % 4 == 0) {
    for (int half = 0; half < 2; ++half) {
      const uint4 words = dropout_words(call.draw, (place.first_number + static_cast<uint64_t>(at)) / 4 + static_cast<uint64_t>(half));
      for (int i = 0; i < 4; ++i)
        bits |= static_cast<unsigned>(word_of(words, i) < call.draw.threshold) << (4 * half + i);
    }
    return bits;
  }
  for (int i = 0; i < lanes; ++i)
    bits |= static_cast<unsigned>(!keeps(call.draw, place.first_number + static_cast<uint64_t>(at + i))) << i;
  return bits;
}

__global__ void __launch_bounds__(warp * rows_of_block) softmax_kernel(AttentionCall call, Array scores, Array kept,
                                                                       Array dropped) {
  const Place place(call);
  if (place.row >= Place::rows(call)) return;  // a whole warp
  const bool whole = call.sequence % lanes == 0;
  float largest = -INFINITY, sum = 0;
  for_keys(call, [&](int64_t at) {
    float v[lanes];
    read_row(scores, place.row, at, call.sequence, whole, -INFINITY, v);
    for (int i = 0; i < lanes; ++i)
      if (at + i < place.seen) largest = fmaxf(largest, v[i]);
  });
  largest = warp_max(largest);
  for_keys(call, [&](int64_t at) {
    float v[lanes];
    read_row(scores, place.row, at, call.sequence, whole, -INFINITY, v);
    for (int i = 0; i < lanes; ++i)
      if (at + i < place.seen) sum += expf((v[i] - largest) * call.scale);
  });
  sum = warp_sum(sum);
  for_keys(call, [&](int64_t at) {
    float v[lanes], signs[lanes];
    read_row(scores, place.row, at, call.sequence, whole, -INFINITY, v);
    for (int i = 0; i < lanes; ++i) v[i] = at + i < place.seen ? expf((v[i] - largest) * call.scale) / sum : 0;
    if (!call.drops) return write_row(kept, place.row, at, call.sequence, whole, v);
    const unsigned bits = dropped_bits(call, place, at);
    for (int i = 0; i < lanes; ++i) {
      signs[i] = bits >> i & 1u ? -v[i] : v[i];
      v[i] = bits >> i & 1u ? v[i] * 0.f : v[i] * call.draw.scale;
    }
    write_row(kept, place.row, at, call.sequence, whole, signs);
    write_row(dropped, place.row, at, call.sequence, whole, v);
  });
}

__global__ void __launch_bounds__(warp * rows_of_block) dropped_kernel(AttentionCall call, Array kept, Array dropped) {
  const Place place(call);
  if (place.row >= Place::rows(call)) return;
  const bool whole = call.sequence % lanes == 0;
  for_keys(call, [&](int64_t at) {
    float v[lanes];
    read_row(kept, place.row, at, call.sequence, whole, 0, v);
    for (int i = 0; i < lanes; ++i) v[i] = was_dropped(v[i]) ? v[i] * 0.f : v[i] * call.draw.scale;
    write_row(dropped, place.row, at, call.sequence, whole, v);
  });
}

__global__ void __launch_bounds__(warp * rows_of_block) backward_kernel(AttentionCall call, Array kept, Array gradients,
                                                                        Array dscores) {
  const Place place(call);
  if (place.row >= Place::rows(call)) return;
  const bool whole = call.sequence % lanes == 0;
  float expected = 0;  // sum of p * dp: what the softmax's normalisation takes off
  const auto read_both = [&](int64_t at, float(&p)[lanes], float(&dp)[lanes]) {
    read_row(kept, place.row, at, call.sequence, whole, 0, p);
    read_row(gradients, place.row, at, call.sequence, whole, 0, dp);
    for (int i = 0; i < lanes; ++i) {
      if (call.drops) dp[i] *= was_dropped(p[i]) ? 0.f : call.draw.scale;
      p[i] = fabsf(p[i]);
    }
  };
  for_keys(call, [&](int64_t at) {
    float p[lanes], dp[lanes];
    read_both(at, p, dp);
    for (int i = 0; i < lanes; ++i) expected += p[i] * dp[i];
  });
  expected = warp_sum(expected);
  for_keys(call, [&](int64_t at) {
    float p[lanes], dp[lanes];
    read_both(at, p, dp);
    for (int i = 0; i < lanes; ++i) dp[i] = call.scale * p[i] * (dp[i] - expected);
    write_row(dscores, place.row, at, call.sequence, whole, dp);
  });
}

LaunchShape shape_of(const AttentionCall& call) {
  return {blocks_for(call.batch * call.heads * call.sequence, rows_of_block), dim3(warp, rows_of_block)};
}

}  // namespace

cudaError_t attention_softmax(const AttentionCall& call, const Array& scores, const Array& kept, const Array& dropped,
                              cudaStream_t stream) {
  return launch(softmax_kernel, shape_of(call), stream, call, scores, kept, dropped);
}

cudaError_t attention_dropped(const AttentionCall& call, const Array& kept, const Array& dropped, cudaStream_t stream) {
  return launch(dropped_kernel, shape_of(call), stream, call, kept, dropped);
}

cudaError_t attention_softmax_backward(const AttentionCall& call, const Array& kept, const Array& gradients,
                                       const Array& dscores, cudaStream_t stream) {
  return launch(backward_kernel, shape_of(call), stream, call, kept, gradients, dscores);
}

}  // namespace gpusizer::cuda
