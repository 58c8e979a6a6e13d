// SPDX-License-Identifier: Apache-2.0
// Random numbers that are the same on every machine, whatever its standard library: one stream per (seed, epoch,
// sample).
#pragma once

#include <cstdint>

namespace gpusizer {

// The finalizer of SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014).
constexpr uint64_t mix_bits(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

inline constexpr uint64_t golden_gamma = 0x9e3779b97f4a7c15ULL;  // 2^64 / golden ratio, the step of SplitMix64

constexpr uint64_t mix_key(uint64_t seed, uint64_t a, uint64_t b = 0) {
  return mix_bits(mix_bits(mix_bits(seed + golden_gamma) + a + golden_gamma) + b + golden_gamma);
}

// SplitMix64. Small enough to be made afresh for every sample.
class SampleRandom {
 public:
  explicit constexpr SampleRandom(uint64_t key) : state_(key) {}
  constexpr SampleRandom(uint64_t seed, int64_t epoch, int64_t index)
      : state_(mix_key(seed, static_cast<uint64_t>(epoch), static_cast<uint64_t>(index))) {}

  constexpr uint64_t bits() { return mix_bits(state_ += golden_gamma); }
  constexpr double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }  // in [0, 1)
  constexpr double uniform(double low, double high) { return low + (high - low) * uniform(); }
  // 0 .. count - 1. Meant for small counts: the bias is below count / 2^53.
  constexpr int64_t below(int64_t count) { return static_cast<int64_t>(uniform() * static_cast<double>(count)); }
  constexpr bool coin() { return (bits() >> 63) != 0; }

 private:
  uint64_t state_;
};

}  // namespace gpusizer
