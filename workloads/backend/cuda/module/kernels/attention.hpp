// SPDX-License-Identifier: Apache-2.0
// The softmax of attention and its gradient, between two matrix products each way: the form that is taken where cuDNN
// has no fused one. All matrices are [batch, heads, sequence, sequence].
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "workloads/backend/cuda/module/kernels/array.hpp"
#include "workloads/backend/cuda/module/kernels/dropout_draw.hpp"

namespace gpusizer::cuda {

struct AttentionCall {
  int64_t batch, heads, sequence;
  int64_t first_head, all_heads;  // dropout counts elements through all heads
  const int32_t* lengths = nullptr;  // keys that are looked at, by sample; nullptr: all
  float scale = 1;                   // of the scores
  bool drops = false;
  Draw draw{};
};

// Forward: scores -> kept: the probabilities, negative where dropout dropped one; and, where it drops, -> dropped: what the
// values are multiplied by. Bytes moved: scores and both results once.
cudaError_t attention_softmax(const AttentionCall& call, const Array& scores, const Array& kept, const Array& dropped,
                              cudaStream_t stream);
// kept -> dropped, as the forward made it.
cudaError_t attention_dropped(const AttentionCall& call, const Array& kept, const Array& dropped, cudaStream_t stream);
// gradients of `dropped` -> gradients of the scores; both may be the same memory where they are as wide.
cudaError_t attention_softmax_backward(const AttentionCall& call, const Array& kept, const Array& gradients,
                                       const Array& dscores, cudaStream_t stream);

}  // namespace gpusizer::cuda
