// SPDX-License-Identifier: Apache-2.0
// Element types of tensors in device memory, read and written as float whatever they are stored as.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <bit>
#include <cstddef>
#include <cstdint>

namespace gpusizer::emulated {

enum class Element : uint8_t { f32, f64, f16, bf16, i64, i32, i8, u8, unknown };

constexpr size_t element_bytes(Element type) {
  switch (type) {
    case Element::f64:
    case Element::i64:
      return 8;
    case Element::f32:
    case Element::i32:
      return 4;
    case Element::f16:
    case Element::bf16:
      return 2;
    case Element::i8:
    case Element::u8:
      return 1;
    case Element::unknown:
      break;
  }
  return 0;
}

inline float read_element(Element type, const void* from, int64_t index) {
  switch (type) {
    case Element::f32:
      return static_cast<const float*>(from)[index];
    case Element::f16:
      return __half2float(static_cast<const __half*>(from)[index]);
    case Element::bf16:
      return __bfloat162float(static_cast<const __nv_bfloat16*>(from)[index]);
    case Element::f64:
      return static_cast<float>(static_cast<const double*>(from)[index]);
    case Element::i64:
      return static_cast<float>(static_cast<const int64_t*>(from)[index]);
    case Element::i32:
      return static_cast<float>(static_cast<const int32_t*>(from)[index]);
    case Element::i8:
      return static_cast<const int8_t*>(from)[index];
    case Element::u8:
      return static_cast<const uint8_t*>(from)[index];
    case Element::unknown:
      break;
  }
  return 0;
}

// Rounds to nearest, ties to even, as a library's output does.
inline void write_element(Element type, void* to, int64_t index, float value) {
  switch (type) {
    case Element::f32:
      static_cast<float*>(to)[index] = value;
      break;
    case Element::f16:
      static_cast<__half*>(to)[index] = __float2half_rn(value);
      break;
    case Element::bf16:
      static_cast<__nv_bfloat16*>(to)[index] = __float2bfloat16_rn(value);
      break;
    case Element::f64:
      static_cast<double*>(to)[index] = static_cast<double>(value);
      break;
    case Element::i64:
      static_cast<int64_t*>(to)[index] = static_cast<int64_t>(value);
      break;
    case Element::i32:
      static_cast<int32_t*>(to)[index] = static_cast<int32_t>(value);
      break;
    case Element::i8:
      static_cast<int8_t*>(to)[index] = static_cast<int8_t>(value);
      break;
    case Element::u8:
      static_cast<uint8_t*>(to)[index] = static_cast<uint8_t>(value);
      break;
    case Element::unknown:
      break;
  }
}

// What a tensor core reads of a float in TF32: 10 bits of mantissa, rounded to nearest, ties away from zero.
inline float round_to_tf32(float value) {
  constexpr uint32_t half_of_last_bit = 0x1000u, kept = ~0x1fffu, exponent = 0x7f800000u;
  const auto bits = std::bit_cast<uint32_t>(value);
  if ((bits & exponent) == exponent) return value;  // infinity or NaN
  return std::bit_cast<float>((bits + half_of_last_bit) & kept);
}

}  // namespace gpusizer::emulated
