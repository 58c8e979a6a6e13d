// SPDX-License-Identifier: Apache-2.0
// Device code: reading and writing eight elements of any width at once, as one or two accesses of 16 bytes.
//
// The width is known when a kernel is launched, not when it is compiled: one kernel serves all mixtures of f32, f16 and
// bf16. All threads take the same branch, and loads are issued before the first conversion, so that memory is kept busy.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "workloads/backend/cuda/launch.hpp"
#include "workloads/backend/cuda/module/kernels/array.hpp"

namespace gpusizer::cuda {

inline constexpr int lanes = 8;

// Eight elements as they lie in memory; shorter types fill the first half.
struct Raw {
  uint4 first, second;
};

__device__ inline bool is_wide(Element element) { return element == Element::f32 || element == Element::tf32; }

__device__ inline float tf32_of(float value) {
  const unsigned word = __float_as_uint(value);
  if ((word & 0x7f800000u) == 0x7f800000u) return value;
  return __uint_as_float((word + 0xfffu + ((word >> 13) & 1u)) & ~0x1fffu);
}

// `at`: a multiple of eight elements.
__device__ inline Raw read_raw(const Array& array, int64_t at) {
  Raw raw{};
  if (is_wide(array.element)) {
    const uint4* from = reinterpret_cast<const uint4*>(static_cast<const float*>(array.data) + at);
    raw.first = from[0];
    raw.second = from[1];
  } else {
    raw.first = *reinterpret_cast<const uint4*>(static_cast<const __half*>(array.data) + at);
  }
  return raw;
}

__device__ inline void two_halves(unsigned word, Element element, float& low, float& high) {
  if (element == Element::bf16) {
    low = __uint_as_float(word << 16);
    high = __uint_as_float(word & 0xffff0000u);
  } else {
    low = __half2float(__ushort_as_half(static_cast<unsigned short>(word & 0xffffu)));
    high = __half2float(__ushort_as_half(static_cast<unsigned short>(word >> 16)));
  }
}

__device__ inline void widen(const Raw& raw, Element element, float (&v)[lanes]) {
  if (is_wide(element)) {
    v[0] = __uint_as_float(raw.first.x);
    v[1] = __uint_as_float(raw.first.y);
    v[2] = __uint_as_float(raw.first.z);
    v[3] = __uint_as_float(raw.first.w);
    v[4] = __uint_as_float(raw.second.x);
    v[5] = __uint_as_float(raw.second.y);
    v[6] = __uint_as_float(raw.second.z);
    v[7] = __uint_as_float(raw.second.w);
  } else {
    two_halves(raw.first.x, element, v[0], v[1]);
    two_halves(raw.first.y, element, v[2], v[3]);
    two_halves(raw.first.z, element, v[4], v[5]);
    two_halves(raw.first.w, element, v[6], v[7]);
  }
}

__device__ inline unsigned short_word(Element element, float value) {
  return element == Element::bf16 ? __bfloat16_as_ushort(__float2bfloat16_rn(value))
                                  : __half_as_ushort(__float2half_rn(value));
}

__device__ inline unsigned pair_word(Element element, float low, float high) {
  return short_word(element, low) | short_word(element, high) << 16;
}

__device__ inline unsigned float_word(Element element, float value) {
  return __float_as_uint(element == Element::tf32 ? tf32_of(value) : value);
}

__device__ inline void read_lanes(const Array& array, int64_t at, float (&v)[lanes]) {
  widen(read_raw(array, at), array.element, v);
}

__device__ inline void write_lanes(const Array& array, int64_t at, const float (&v)[lanes]) {
  const Element e = array.element;
  if (is_wide(e)) {
    uint4* to = reinterpret_cast<uint4*>(static_cast<float*>(array.data) + at);
    to[0] = uint4{float_word(e, v[0]), float_word(e, v[1]), float_word(e, v[2]), float_word(e, v[3])};
    to[1] = uint4{float_word(e, v[4]), float_word(e, v[5]), float_word(e, v[6]), float_word(e, v[7])};
  } else {
    *reinterpret_cast<uint4*>(static_cast<__half*>(array.data) + at) =
        uint4{pair_word(e, v[0], v[1]), pair_word(e, v[2], v[3]), pair_word(e, v[4], v[5]), pair_word(e, v[6], v[7])};
  }
}

__device__ inline float read_one(const Array& array, int64_t at) {
  if (array.element == Element::f16) return __half2float(static_cast<const __half*>(array.data)[at]);
  if (array.element == Element::bf16) return __bfloat162float(static_cast<const __nv_bfloat16*>(array.data)[at]);
  return static_cast<const float*>(array.data)[at];
}

__device__ inline void write_one(const Array& array, int64_t at, float value) {
  if (is_wide(array.element))
    static_cast<unsigned*>(array.data)[at] = float_word(array.element, value);
  else
    static_cast<unsigned short*>(array.data)[at] = static_cast<unsigned short>(short_word(array.element, value));
}

// Eight elements from `at` on, of which those from `end` on are not there: they read as `missing` and are not written.
__device__ inline void read_some(const Array& array, int64_t at, int64_t end, float missing, float (&v)[lanes]) {
  for (int i = 0; i < lanes; ++i) v[i] = at + i < end ? read_one(array, at + i) : missing;
}
__device__ inline void write_some(const Array& array, int64_t at, int64_t end, const float (&v)[lanes]) {
  for (int i = 0; i < lanes; ++i)
    if (at + i < end) write_one(array, at + i, v[i]);
}

// Elements [at, at + 8) of a row of `end` elements whose first one may lie anywhere: by 16 bytes where `whole` says so.
__device__ inline void read_row(const Array& array, int64_t row, int64_t at, int64_t end, bool whole, float missing,
                                float (&v)[lanes]) {
  if (whole)
    read_lanes(array, row * end + at, v);
  else
    read_some(array, row * end + at, (row + 1) * end, missing, v);
}
__device__ inline void write_row(const Array& array, int64_t row, int64_t at, int64_t end, bool whole,
                                 const float (&v)[lanes]) {
  if (whole)
    write_lanes(array, row * end + at, v);
  else
    write_some(array, row * end + at, (row + 1) * end, v);
}

}  // namespace gpusizer::cuda
