// SPDX-License-Identifier: Apache-2.0
// Device code: the random words of program/initial_values.hpp and program/dropout_mask.hpp, bit for bit.
#pragma once

#include <cstdint>

#include "workloads/backend/cuda/launch.hpp"
#include "workloads/backend/cuda/module/kernels/dropout_draw.hpp"

namespace gpusizer::cuda {

// Philox 4x32 with 10 rounds (Salmon et al., SC11).
__device__ inline uint4 philox(uint4 c, uint32_t key0, uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = static_cast<uint64_t>(0xD2511F53u) * c.x, b = static_cast<uint64_t>(0xCD9E8D57u) * c.z;
    c = uint4{static_cast<uint32_t>(b >> 32) ^ c.y ^ key0, static_cast<uint32_t>(b),
              static_cast<uint32_t>(a >> 32) ^ c.w ^ key1, static_cast<uint32_t>(a)};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return c;
}

// The words of the elements 4 * block ... 4 * block + 3.
__device__ inline uint4 dropout_words(const Draw& draw, uint64_t block) {
  constexpr uint32_t purpose = 0x64726f70;
  const uint32_t seed = static_cast<uint32_t>(draw.state[0]), step = static_cast<uint32_t>(draw.state[1]);
  return philox(uint4{static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32), step, draw.stream}, seed, purpose);
}

__device__ inline uint32_t word_of(const uint4& words, int which) {
  return which == 0 ? words.x : which == 1 ? words.y : which == 2 ? words.z : words.w;
}

// Whether one element is kept, wherever it is.
__device__ inline bool keeps(const Draw& draw, uint64_t element) {
  return word_of(dropout_words(draw, element / 4), static_cast<int>(element % 4)) >= draw.threshold;
}

}  // namespace gpusizer::cuda
