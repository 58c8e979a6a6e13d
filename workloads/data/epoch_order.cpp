// SPDX-License-Identifier: Apache-2.0
// The Feistel network behind the shuffled order of an epoch.
#include "workloads/data/epoch_order.hpp"

#include <algorithm>
#include <bit>

#include "workloads/data/sample_random.hpp"

namespace gpusizer {

namespace {
constexpr int rounds = 4;       // of two half rounds each; four half rounds already look random (Luby, Rackoff 1988)
constexpr int fewest_bits = 4;  // below this the halves are too small to mix
constexpr uint64_t order_stream = 0x6f72646572;  // "order": keeps this key apart from those of the samples
}  // namespace

EpochOrder::EpochOrder(uint64_t seed, int64_t epoch, int64_t size)
    : key_(mix_key(seed, static_cast<uint64_t>(epoch), order_stream)), size_(static_cast<uint64_t>(size)) {
  const int bits = std::max<int>(fewest_bits, std::bit_width(size_ - 1));
  left_bits_ = bits / 2;
  right_bits_ = bits - left_bits_;
}

uint64_t EpochOrder::permute(uint64_t value) const {
  const uint64_t left_mask = (uint64_t{1} << left_bits_) - 1, right_mask = (uint64_t{1} << right_bits_) - 1;
  uint64_t left = value >> right_bits_, right = value & right_mask;
  for (uint64_t round = 0; round < rounds; ++round) {
    left ^= mix_bits(key_ + (2 * round) * golden_gamma + right) & left_mask;
    right ^= mix_bits(key_ + (2 * round + 1) * golden_gamma + left) & right_mask;
  }
  return (left << right_bits_) | right;
}

int64_t EpochOrder::sample_at(int64_t position) const {
  uint64_t value = static_cast<uint64_t>(position);
  do value = permute(value);
  while (value >= size_);  // ends: the walk is a cycle that comes back to `position`, which is inside
  return static_cast<int64_t>(value);
}

}  // namespace gpusizer
