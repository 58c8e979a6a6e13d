// SPDX-License-Identifier: Apache-2.0
// 16-bit floating-point elements as they lie in a file, widened exactly.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace gpusizer {

// IEEE 754 binary16: 1 sign, 5 exponent and 10 fraction bits.
inline float from_f16(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31, fraction = bits & 1023;
  const float sign = bits & 0x8000 ? -1.0F : 1.0F;
  if (exponent == 31) return fraction == 0 ? sign * INFINITY : NAN;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), -24);
  return sign * std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
}

// bfloat16: the upper half of a binary32.
inline float from_bf16(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

}  // namespace gpusizer
