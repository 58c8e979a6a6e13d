// SPDX-License-Identifier: Apache-2.0
// The cost model on worked examples: five buckets behind a forward pass of 40 ms and a backward pass of 80 ms.
#include "workloads/backend/communicator/cost_model.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace gpusizer {
namespace {

// Gradients become ready in proportion to their bytes.
std::vector<CommunicationBucket> buckets_of(const std::vector<double>& megabytes) {
  double total = 0, before = 0;
  for (const double one : megabytes) total += one;
  std::vector<CommunicationBucket> buckets;
  for (const double one : megabytes) {
    before += one;
    buckets.push_back({0.040 + 0.080 * before / total, one * 1e6});
  }
  return buckets;
}

TEST(CostModel, FastMiddlingAndSlowChannelsOfEightRanks) {
  const auto buckets = buckets_of({1, 25, 25, 25, 26.2});
  struct Expected {
    double bandwidth, channel, end;
  };
  for (const Expected& e : {Expected{10e9, 0.01938, 0.12489}, {3e9, 0.06112, 0.13558}, {1.25e9, 0.14458, 0.20323}}) {
    const auto cost = communication_cost(buckets, {0.0003, all_reduce_factor(8), e.bandwidth}, 0.120);
    EXPECT_NEAR(cost.channel_seconds, e.channel, 1e-5);
    EXPECT_NEAR(cost.end_seconds, e.end, 1e-5);
    EXPECT_NEAR(cost.exposed_seconds, e.end - 0.120, 1e-5);
  }
}

TEST(CostModel, OneBucketHidesNothing) {
  const auto cost = communication_cost(buckets_of({102.2}), {0.0003, 1.75, 3e9}, 0.120);
  EXPECT_NEAR(cost.exposed_seconds, 0.0003 + 1.75 * 0.1022 / 3, 1e-9);
}

TEST(CostModel, WhatEndsBeforeTheBackwardPassCostsNothing) {
  const std::vector<CommunicationBucket> buckets{{0.05, 1e6}};
  const auto cost = communication_cost(buckets, {0.001, 1, 1e9}, 0.120);
  EXPECT_NEAR(cost.end_seconds, 0.052, 1e-12);
  EXPECT_EQ(cost.exposed_seconds, 0);
}

TEST(CostModel, AnAllReduceOverAWireTakesTwoLatencies) {
  const ChannelSpeed channel = all_reduce_channel(2, {0.001, 125e6});
  const std::vector<CommunicationBucket> buckets{{0.01, 12.5e6}};
  EXPECT_NEAR(communication_cost(buckets, channel, 0.01).exposed_seconds, 0.102, 1e-12);
  EXPECT_NEAR(communication_cost(buckets, all_reduce_channel(2, {0.001, 0}), 0.01).exposed_seconds, 0.002, 1e-12);
  EXPECT_DOUBLE_EQ(all_reduce_factor(4), 1.5);
  EXPECT_EQ(all_reduce_factor(1), 0);
}

TEST(CostModel, SmallSumsTakeOneRound) {
  const WireSpeed wire{0.001, 125e6};
  EXPECT_DOUBLE_EQ(all_reduce_seconds(2, wire, 12'500'000), 0.102);
  EXPECT_DOUBLE_EQ(all_reduce_seconds(4, wire, 12'500), 0.0013);
  EXPECT_DOUBLE_EQ(all_reduce_seconds(4, {0.001, 0}, 12'500), 0.001);
}

}  // namespace
}  // namespace gpusizer
