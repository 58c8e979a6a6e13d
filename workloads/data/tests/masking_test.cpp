// SPDX-License-Identifier: Apache-2.0
// The masked tokens: how many, where, by what, and that the labels give the text back.
#include "workloads/data/masking.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

namespace gpusizer {
namespace {

constexpr int64_t vocabulary = 1000;
const MaskingRule rule{vocabulary, {0, 1, 2, 3, 4}};

std::vector<int32_t> sequence(int32_t words) {
  std::vector<int32_t> ids(static_cast<size_t>(words) + 2);
  std::iota(ids.begin(), ids.end(), 100);
  ids.front() = rule.special.classify;
  ids.back() = rule.special.separate;
  return ids;
}

// `share` of `total`, within five standard deviations of a binomial count.
void expect_share(int64_t count, int64_t total, double share) {
  const auto all = static_cast<double>(total);
  EXPECT_NEAR(static_cast<double>(count), share * all, 5 * std::sqrt(all * share * (1 - share)));
}

TEST(Masking, SlotsForTheUsualLengths) {
  EXPECT_EQ(default_predictions(128), 20);
  EXPECT_EQ(default_predictions(64), 10);
  EXPECT_EQ(default_predictions(100), 15);  // exactly 15 %
  EXPECT_EQ(default_predictions(512), 77);
}

TEST(Masking, LabelsGiveTheTextBack) {
  const std::vector<int32_t> text = sequence(60);
  for (int64_t index = 0; index < 200; ++index) {
    std::vector<int32_t> ids = text, positions(12), labels(12);
    const int64_t chosen = mask_tokens(ids, rule, SampleRandom(1, 0, index), positions, labels);
    ASSERT_EQ(chosen, 9);  // 15 % of 60
    for (size_t slot = 0; slot < 9; ++slot) {
      if (slot > 0) {
        EXPECT_LT(positions[slot - 1], positions[slot]);
      }
      ids[static_cast<size_t>(positions[slot])] = labels[slot];
      EXPECT_GE(labels[slot], 100);
    }
    EXPECT_EQ(ids, text);
    for (size_t slot = 9; slot < 12; ++slot) EXPECT_TRUE(positions[slot] == 0 && labels[slot] == -1);
  }
}

TEST(Masking, CountsAreBounded) {
  const auto chosen = [](int32_t words, size_t slots) {
    std::vector<int32_t> ids = sequence(words), positions(slots), labels(slots);
    return mask_tokens(ids, rule, SampleRandom(1, 0, 0), positions, labels);
  };
  EXPECT_EQ(chosen(1, 10), 1);  // at least one
  EXPECT_EQ(chosen(2, 10), 1);
  EXPECT_EQ(chosen(100, 10), 10);  // no more than there are slots
  EXPECT_EQ(chosen(0, 10), 0);     // nothing there
}

TEST(Masking, SharesAreThoseOfBert) {
  int64_t masked = 0, random = 0, same = 0, total = 0;
  std::vector<int64_t> at_place(42);
  for (int64_t index = 0; index < 5000; ++index) {
    std::vector<int32_t> ids = sequence(40), positions(6), labels(6);
    mask_tokens(ids, rule, SampleRandom(7, 3, index), positions, labels);
    for (size_t slot = 0; slot < 6; ++slot) {
      const int32_t now = ids[static_cast<size_t>(positions[slot])];
      ++total;
      ++at_place[static_cast<size_t>(positions[slot])];
      masked += now == rule.special.mask;
      same += now == labels[slot];
      random += now != rule.special.mask && now != labels[slot];
      EXPECT_TRUE(now == rule.special.mask || !rule.special.has(now));
    }
  }
  EXPECT_EQ(total, 30000);
  expect_share(masked, total, 0.8);
  expect_share(same, total, 0.1 + 0.1 / 995);
  expect_share(random, total, 0.1 - 0.1 / 995);
  for (size_t place = 1; place <= 40; ++place) expect_share(at_place[place], 5000, 6.0 / 40);
  EXPECT_EQ(at_place.front() + at_place.back(), 0);
}

}  // namespace
}  // namespace gpusizer
