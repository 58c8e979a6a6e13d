// SPDX-License-Identifier: Apache-2.0
// Vector kernels of self-attention, one head of one sequence at a time: all of it stays in one core's cache.
#pragma once

#include <cstddef>
#include <cstdint>

#include "workloads/backend/cpu/vector/row_kernels.hpp"

namespace gpusizer::cpu {

struct AttentionShape {
  int64_t batch, heads, sequence, head_size;  // hidden = heads * head_size
  int threads;
};

// qkv [batch * sequence, 3 * hidden], context [batch * sequence, hidden].
struct AttentionForward {
  AttentionShape shape;
  const float* qkv;
  const int32_t* lengths;  // [batch], or nullptr: all keys are looked at
  float* context;
  std::byte* saved;  // nullptr: nothing is kept
  std::byte* workspace;
  bool drops = false;
  DropoutDraw draw;
  float keep_scale = 1;
  int64_t first_head = 0, all_heads = 0;  // random words are counted through all of them; 0: there are no others
};

struct AttentionBackward {
  AttentionShape shape;
  const float *dcontext, *qkv;
  const int32_t* lengths;
  const std::byte* saved;
  float* dqkv;
  std::byte* workspace;
  bool drops = false;
  float keep_scale = 1;
};

struct AttentionKernels {
  // For the backward: each row's largest score and the inverse sum of its exponentials, and the bits of its dropout.
  // The probabilities themselves are computed anew: that is as fast as reading them.
  int64_t (*saved_bytes)(const AttentionShape&, bool drops);
  int64_t (*workspace_bytes)(const AttentionShape&);
  void (*forward)(const AttentionForward&);
  void (*backward)(const AttentionBackward&);
};

}  // namespace gpusizer::cpu
