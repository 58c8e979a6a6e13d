// SPDX-License-Identifier: Apache-2.0
// Products of matrices in float, fast enough that a small model trains on the emulated device in seconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpusizer::emulated {

constexpr int64_t left_tile = 8;   // rows of a tile
constexpr int64_t right_tile = 4;  // columns of a tile

// `count` vectors of length `depth`, `tile` of them side by side, the last tile filled up with zeros.
struct PackedVectors {
  int64_t count = 0, depth = 0;
  std::vector<float> values;  // [count / tile, depth, tile]
};

// `read(vector, position)` gives one element.
template <class Read>
PackedVectors pack_vectors(int64_t count, int64_t depth, int64_t tile, const Read& read) {
  PackedVectors packed{count, depth, {}};
  packed.values.assign(static_cast<size_t>((count + tile - 1) / tile * tile * depth), 0.0f);
  for (int64_t first = 0; first < count; first += tile) {
    float* to = packed.values.data() + first * depth;
    for (int64_t i = first; i < count && i < first + tile; ++i)
      for (int64_t p = 0; p < depth; ++p) to[p * tile + i - first] = read(i, p);
  }
  return packed;
}

// All inner products of the left vectors (packed by left_tile) with the right ones (packed by right_tile):
// result[r * left.count + l], that is, a matrix of left.count rows stored by columns. Sums are taken in pieces of 256,
// so that their error does not grow with the whole length.
std::vector<float> inner_products(const PackedVectors& left, const PackedVectors& right);

}  // namespace gpusizer::emulated
