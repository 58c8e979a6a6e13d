// SPDX-License-Identifier: Apache-2.0
// The shuffled order of an epoch as a function: position -> sample, a permutation that needs no memory and no lock.
#pragma once

#include <cstdint>

namespace gpusizer {

// A permutation of 0 .. size - 1 that is chosen by (seed, epoch). Any thread can ask for any position, so batches of
// several epochs can be prepared at a time, and nobody waits for a shuffle of a long list.
//
// A Feistel network permutes the power of two at or above `size`; positions that land outside are sent through again
// ("cycle walking"), which takes less than two passes on average. Source: Black and Rogaway, "Ciphers with arbitrary
// finite domains", CT-RSA 2002.
class EpochOrder {
 public:
  // size >= 1.
  EpochOrder(uint64_t seed, int64_t epoch, int64_t size);

  // position and result are in 0 .. size - 1.
  int64_t sample_at(int64_t position) const;

 private:
  uint64_t permute(uint64_t value) const;

  uint64_t key_, size_;
  int left_bits_, right_bits_;
};

}  // namespace gpusizer
