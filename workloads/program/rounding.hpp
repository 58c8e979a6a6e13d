// SPDX-License-Identifier: Apache-2.0
// Rounding to the shorter floating-point types: one rule for every backend, bit for bit what hardware stores.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <span>

#include "workloads/program/tensor.hpp"

namespace gpusizer {

namespace rounding {

// Drops the low `bits` of a float's mantissa, to nearest, ties to even. A carry goes on into the exponent, up to infinity.
inline float drop_bits(float value, int bits) {
  const auto word = std::bit_cast<uint32_t>(value);
  const uint32_t unit = uint32_t{1} << bits;
  if ((word & 0x7f800000u) == 0x7f800000u)  // infinite, or no number, which keeps a bit so that it stays none
    return std::bit_cast<float>((word & 0x007fffffu) == 0 ? word : (word | 0x00400000u) & ~(unit - 1));
  const uint32_t odd = (word >> bits) & 1u;
  return std::bit_cast<float>((word + (unit / 2 - 1) + odd) & ~(unit - 1));
}

// IEEE 754 binary16: 10 bits of mantissa; from 65520 on infinite; below 2^-14 multiples of 2^-24.
inline float to_f16(float value) {
  const float size = std::abs(value);
  if (size < 0x1p-14f) {
    constexpr float shift = 0x1p-1f;  // numbers here have a last bit of 2^-24: adding rounds, taking off is exact
    return std::copysign((size + shift) - shift, value);
  }
  const float rounded = drop_bits(value, 13);
  return std::abs(rounded) > 65504.0f ? std::copysign(INFINITY, value) : rounded;
}

}  // namespace rounding

// The nearest value of `dtype`, ties to even, as a float: f16 (beyond its range infinite, subnormal numbers exact), bf16
// and tf32 (8 and 11 significant bits, the range of f32). Others are left as they are. Not a number stays none.
inline float round_to(DType dtype, float value) {
  switch (dtype) {
    case DType::f16: return rounding::to_f16(value);
    case DType::bf16: return rounding::drop_bits(value, 16);
    case DType::tf32: return rounding::drop_bits(value, 13);
    default: return value;
  }
}

// Whether round_to changes anything: a type shorter than f32.
inline bool is_rounded(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16 || dtype == DType::tf32; }

// In place. Written out for each type, so that compilers turn the loops into vector instructions.
inline void round_to(DType dtype, std::span<float> values) {
  if (dtype == DType::f16)
    for (float& v : values) v = rounding::to_f16(v);
  else if (dtype == DType::bf16)
    for (float& v : values) v = rounding::drop_bits(v, 16);
  else if (dtype == DType::tf32)
    for (float& v : values) v = rounding::drop_bits(v, 13);
}

}  // namespace gpusizer
