// SPDX-License-Identifier: Apache-2.0
// The shuffled order: a permutation for every size, the same everywhere, different for each epoch and seed.
#include "workloads/data/epoch_order.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "workloads/data/sample_random.hpp"

namespace gpusizer {
namespace {

std::vector<int64_t> order_of(uint64_t seed, int64_t epoch, int64_t size) {
  const EpochOrder order(seed, epoch, size);
  std::vector<int64_t> samples;
  for (int64_t i = 0; i < size; ++i) samples.push_back(order.sample_at(i));
  return samples;
}

TEST(EpochOrder, HoldsEverySampleOnce) {
  for (const int64_t size : {1, 2, 3, 5, 15, 16, 17, 100, 127, 128, 129, 1000, 60000}) {
    std::vector<int> seen(static_cast<size_t>(size), 0);
    for (const int64_t sample : order_of(7, 3, size)) {
      ASSERT_GE(sample, 0);
      ASSERT_LT(sample, size);
      ++seen[static_cast<size_t>(sample)];
    }
    EXPECT_EQ(seen, std::vector<int>(static_cast<size_t>(size), 1)) << size;
  }
}

TEST(EpochOrder, DependsOnSeedAndEpochOnly) {
  EXPECT_EQ(order_of(1, 0, 100), order_of(1, 0, 100));
  EXPECT_NE(order_of(1, 0, 100), order_of(1, 1, 100));
  EXPECT_NE(order_of(1, 0, 100), order_of(2, 0, 100));
}

// Over 4000 epochs, each of the 24 orders of four samples should come about 167 times (deviation 12.6).
TEST(EpochOrder, GivesAllOrdersOfAFewSamplesEqually) {
  std::array<int, 256> counts{};
  for (int64_t epoch = 0; epoch < 4000; ++epoch) {
    size_t code = 0;
    for (const int64_t sample : order_of(5, epoch, 4)) code = code * 4 + static_cast<size_t>(sample);
    ++counts[code];
  }
  int orders = 0;
  for (const int count : counts) {
    if (count == 0) continue;
    ++orders;
    EXPECT_NEAR(count, 4000 / 24.0, 60);
  }
  EXPECT_EQ(orders, 24);
}

// Neighbours in the data set (often of one class) must be spread: count those that stay neighbours.
TEST(EpochOrder, SeparatesNeighbours) {
  const std::vector<int64_t> order = order_of(11, 0, 10000);
  int neighbours = 0;
  for (size_t i = 1; i < order.size(); ++i) neighbours += std::abs(order[i] - order[i - 1]) == 1 ? 1 : 0;
  EXPECT_LT(neighbours, 12);  // two are expected
}

// The published first outputs of SplitMix64 for the state 0.
TEST(SampleRandom, IsSplitMix64) {
  SampleRandom random(0);
  EXPECT_EQ(random.bits(), 0xe220a8397b1dcdafULL);
  EXPECT_EQ(random.bits(), 0x6e789e6aa1b965f4ULL);
  EXPECT_EQ(random.bits(), 0x06c45d188009454fULL);
}

TEST(SampleRandom, StaysInItsRange) {
  SampleRandom random(3, 1, 4);
  std::array<int, 5> counts{};
  for (int i = 0; i < 5000; ++i) ++counts.at(static_cast<size_t>(random.below(5)));
  for (const int count : counts) EXPECT_NEAR(count, 1000, 150);
  for (int i = 0; i < 1000; ++i) {
    const double value = random.uniform(2, 3);
    EXPECT_GE(value, 2);
    EXPECT_LT(value, 3);
  }
}

}  // namespace
}  // namespace gpusizer
