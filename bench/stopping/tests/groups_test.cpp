// SPDX-License-Identifier: Apache-2.0
// A mix of short and long steps is brought to the level of its mean step.
#include "bench/stopping/groups.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "bench/stopping/stopping.hpp"

namespace gpusizer {
namespace {

TEST(Groups, OneGroupIsLeftAsItIs) {
  const std::vector<double> seconds{0.1, 0.3, 0.1};
  EXPECT_EQ(level_groups(seconds, std::vector<std::int64_t>(3, 2)), seconds);
  EXPECT_TRUE(level_groups({}, {}).empty());
}

// Three steps of 1 s and one of 5 s: the mean step is 2 s, and none of them is unusual for its kind.
TEST(Groups, AMixKeepsItsMeanAndLosesItsSpread) {
  const std::vector<double> seconds{1, 5, 1, 1};
  const std::vector<std::int64_t> groups{0, 1, 0, 0};
  EXPECT_EQ(level_groups(seconds, groups), std::vector<double>(4, 2.0));
}

TEST(Groups, AStallStaysOne) {
  const std::vector<double> seconds{1, 5, 1, 1, 5, 10, 5, 1};
  const std::vector<std::int64_t> groups{0, 1, 0, 0, 1, 1, 1, 0};
  const auto level = level_groups(seconds, groups);
  EXPECT_DOUBLE_EQ(level[5], 2 * level[4]);
  EXPECT_DOUBLE_EQ(level[4], level[0]);
}

TEST(Groups, StoppingIsNotHeldUpByTheMix) {
  Stopping stopping({});
  Verdict verdict = Verdict::keep_going;
  for (int i = 0; i < 51; ++i) verdict = stopping.add(i % 3 == 0 ? 4.0 + 0.001 * (i % 2) : 1.0, i % 3 == 0);
  EXPECT_EQ(verdict, Verdict::precise);
}

}  // namespace
}  // namespace gpusizer
