// SPDX-License-Identifier: Apache-2.0
// One vector of floats for the instruction set that the including file is compiled for, with bit masks of its lanes.
// No standard headers with inline functions here: they would be compiled for instructions that not every machine has.
#pragma once

#include <cstdint>
#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace {

#ifdef __AVX512F__
constexpr int lanes = 16;
typedef float Vec __attribute__((vector_size(64)));
typedef uint16_t Bits;
#else
constexpr int lanes = 8;
typedef float Vec __attribute__((vector_size(32)));
typedef uint8_t Bits;
#endif
typedef float UnalignedVec __attribute__((vector_size(sizeof(Vec)), aligned(4)));

inline Vec load(const float* p) { return *reinterpret_cast<const UnalignedVec*>(p); }
inline void store(float* p, Vec v) { *reinterpret_cast<UnalignedVec*>(p) = v; }
// The value in every lane. (Not `Vec{} + value`: that adds, as -0 + 0 is not -0.)
inline Vec splat(float value) {
#if defined(__AVX512F__)
  return _mm512_set1_ps(value);
#elif defined(__AVX2__)
  return _mm256_set1_ps(value);
#else
  Vec v;
  for (int i = 0; i < lanes; ++i) v[i] = value;
  return v;
#endif
}

// One bit for each lane that is above zero (NaN is not).
inline Bits positive_bits(Vec v) {
#if defined(__AVX512F__)
  return _mm512_cmp_ps_mask(v, _mm512_setzero_ps(), _CMP_GT_OQ);
#elif defined(__AVX2__)
  return static_cast<Bits>(_mm256_movemask_ps(_mm256_cmp_ps(v, _mm256_setzero_ps(), _CMP_GT_OQ)));
#else
  Bits bits = 0;
  for (int i = 0; i < lanes; ++i) bits = static_cast<Bits>(bits | (v[i] > 0) << i);
  return bits;
#endif
}

// The lanes whose bit is set; zero elsewhere.
inline Vec keep(Bits bits, Vec v) {
#if defined(__AVX512F__)
  return _mm512_maskz_mov_ps(bits, v);
#elif defined(__AVX2__)
  const __m256i lane_bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
  const __m256i chosen = _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(bits), lane_bit), lane_bit);
  return _mm256_and_ps(v, _mm256_castsi256_ps(chosen));
#else
  for (int i = 0; i < lanes; ++i) v[i] = bits >> i & 1 ? v[i] : 0;
  return v;
#endif
}

// max(v, 0) that lets NaN through, so that a diverging run is seen.
inline Vec clip(Vec v) {
#if defined(__AVX512F__)
  return _mm512_max_ps(_mm512_setzero_ps(), v);
#elif defined(__AVX2__)
  return _mm256_max_ps(_mm256_setzero_ps(), v);
#else
  for (int i = 0; i < lanes; ++i) v[i] = v[i] < 0 ? 0 : v[i];
  return v;
#endif
}

}  // namespace
