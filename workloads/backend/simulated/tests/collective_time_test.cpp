// SPDX-License-Identifier: Apache-2.0
// Collectives on examples that were worked out apart from this program.
#include "workloads/backend/simulated/collective_time.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace gpusizer::simulated {
namespace {

constexpr double resnet50_bytes = 102'228'128;

TEST(CollectiveTime, RingByBusBandwidth) {
  const double seconds = ring_seconds(8, resnet50_bytes, {0, 130e9});
  EXPECT_NEAR(1e3 * seconds, 1.376, 5e-4);
  EXPECT_NEAR(resnet50_bytes / seconds / 1e9, 74.29, 0.005);
}

TEST(CollectiveTime, RingsAndTreesByAlphaAndBeta) {
  const LinkDescription link{14e-6, 10e9};
  const double ranks[] = {8, 16, 32, 64, 256};
  const double ring_25[] = {4.571, 5.107, 5.712, 6.686, 12.120}, tree_25[] = {5.084, 5.112, 5.140, 5.168, 5.224};
  const double ring_1[] = {0.371, 0.607, 1.062, 1.961, 7.339}, tree_1[] = {0.284, 0.312, 0.340, 0.368, 0.424};
  for (int i = 0; i < 5; ++i) {
    EXPECT_NEAR(1e3 * ring_seconds(ranks[i], 25e6, link), ring_25[i], 5.01e-4);
    EXPECT_NEAR(1e3 * tree_seconds(ranks[i], 25e6, link), tree_25[i], 5.01e-4);
    EXPECT_NEAR(1e3 * ring_seconds(ranks[i], 1e6, link), ring_1[i], 5.01e-4);
    EXPECT_NEAR(1e3 * tree_seconds(ranks[i], 1e6, link), tree_1[i], 5.01e-4);
  }
  EXPECT_EQ(ring_seconds(1, 1e6, link), 0);
  EXPECT_EQ(tree_seconds(1, 1e6, link), 0);
}

TEST(CollectiveTime, NcclLatencyOfSixteenRanksOnTwoNodes) {
  EXPECT_NEAR(1e6 * nccl_ring_latency(16, 2, nccl_simple_nvlink, 0), 131.6, 0.05);
  EXPECT_NEAR(1e6 * nccl_tree_latency(16, 2, nccl_simple_nvlink), 92.4, 0.05);
}

TEST(CollectiveTime, TwoLevels) {
  const double expected[] = {1.424, 11.675, 16.842, 19.510};
  for (int i = 0; i < 4; ++i)
    EXPECT_NEAR(1e3 * two_level_seconds(8, std::pow(2, i), resnet50_bytes, {3.4e-6, 130e9}, {14e-6, 10e9}), expected[i], 5e-4);
}

TEST(CollectiveTime, OneRankNeedsNothingAndHalfTheRoundsHalfTheTime) {
  DeviceDescription device;
  device.inside = {1e-6, 100e9}, device.across = {10e-6, 10e9};
  EXPECT_EQ(collective_seconds(CollectiveKind::all_reduce, {1, 1}, 1e6, device), 0);
  const double all = collective_seconds(CollectiveKind::all_reduce, {16, 2}, 1e8, device);
  EXPECT_DOUBLE_EQ(collective_seconds(CollectiveKind::reduce_scatter, {16, 2}, 1e8, device), all / 2);
  EXPECT_GT(collective_seconds(CollectiveKind::all_reduce, {32, 4}, 1e8, device), all);
}

}  // namespace
}  // namespace gpusizer::simulated
