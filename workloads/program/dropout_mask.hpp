// SPDX-License-Identifier: Apache-2.0
// Which elements a dropout keeps: one rule for every backend, so that all of them drop the same ones.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "workloads/program/initial_values.hpp"

namespace gpusizer::dropout_mask {

// An element is kept when its random word is not below this: the smallest whole number >= rate * 2^32, computed in
// double. `rate` is in [0, 1); a rate that would round up to "drop all" still keeps the largest word.
inline uint32_t threshold(double rate) {
  return static_cast<uint32_t>(std::min(std::ceil(rate * 0x1p32), 0x1p32 - 1));
}

inline bool keep(uint32_t word, uint32_t threshold) { return word >= threshold; }

// What kept elements are multiplied by, so that the expected value stays.
inline double scale(double rate) { return 1.0 / (1.0 - rate); }

// The words of the elements 4 * block ... 4 * block + 3, elements counted row-major in the tensor's own shape (NCHW)
// whatever the layout in memory. `seed` and `step` are the two values of "random_state"; `stream` is the operation's.
inline std::array<uint32_t, 4> words(uint64_t block, uint32_t seed, uint32_t step, uint32_t stream) {
  constexpr uint32_t purpose = 0x64726f70;  // "drop": keeps these words apart from the starting values' words
  return philox({static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32), step, stream}, {seed, purpose});
}

}  // namespace gpusizer::dropout_mask
