// SPDX-License-Identifier: Apache-2.0
// The inner loop of all products: tiles of 8 x 4 sums held in registers, with AVX2 where the processor has it.
#include "workloads/backend/cuda/emulated/numbers/product.hpp"

#include <algorithm>
#include <array>

namespace gpusizer::emulated {
namespace {

constexpr int64_t piece = 256;

using Tile = std::array<std::array<float, left_tile>, right_tile>;

// Additions and multiplications are never fused, so that the result is the same with and without AVX2.
[[gnu::always_inline]] inline void add_piece(Tile& sums, const float* left, const float* right, int64_t depth) {
  typedef float Vector __attribute__((vector_size(left_tile * sizeof(float)), aligned(4)));
  Vector s0{}, s1{}, s2{}, s3{};
  for (int64_t p = 0; p < depth; ++p) {
    const Vector a = *reinterpret_cast<const Vector*>(left + p * left_tile);
    const float* b = right + p * right_tile;
    s0 += a * b[0];
    s1 += a * b[1];
    s2 += a * b[2];
    s3 += a * b[3];
  }
  for (int64_t i = 0; i < left_tile; ++i) {
    sums[0][static_cast<size_t>(i)] += s0[i];
    sums[1][static_cast<size_t>(i)] += s1[i];
    sums[2][static_cast<size_t>(i)] += s2[i];
    sums[3][static_cast<size_t>(i)] += s3[i];
  }
}

[[gnu::always_inline]] inline void one_tile(Tile& sums, const float* left, const float* right, int64_t depth) {
  for (int64_t p = 0; p < depth; p += piece)
    add_piece(sums, left + p * left_tile, right + p * right_tile, std::min(piece, depth - p));
}

void tile_anywhere(Tile& sums, const float* left, const float* right, int64_t depth) {
  one_tile(sums, left, right, depth);
}

[[gnu::target("avx2")]] void tile_with_avx2(Tile& sums, const float* left, const float* right, int64_t depth) {
  one_tile(sums, left, right, depth);
}

}  // namespace

std::vector<float> inner_products(const PackedVectors& left, const PackedVectors& right) {
  std::vector<float> result(static_cast<size_t>(left.count * right.count));
  const auto tile = __builtin_cpu_supports("avx2") ? tile_with_avx2 : tile_anywhere;
  const int64_t depth = left.depth;
  for (int64_t r = 0; r < right.count; r += right_tile)
    for (int64_t l = 0; l < left.count; l += left_tile) {
      Tile sums{};
      tile(sums, left.values.data() + l * depth, right.values.data() + r * depth, depth);
      const int64_t rows = std::min(left_tile, left.count - l), columns = std::min(right_tile, right.count - r);
      for (int64_t c = 0; c < columns; ++c)
        std::copy_n(sums[static_cast<size_t>(c)].data(), rows, result.data() + (r + c) * left.count + l);
    }
  return result;
}

}  // namespace gpusizer::emulated
