// SPDX-License-Identifier: Apache-2.0
// One channel, bucket after bucket.
#include "workloads/backend/communicator/cost_model.hpp"

#include <algorithm>

#include "workloads/backend/communicator/collectives.hpp"

namespace gpusizer {

double all_reduce_factor(int ranks) { return ranks > 1 ? 2.0 * (ranks - 1) / ranks : 0.0; }

ChannelSpeed all_reduce_channel(int ranks, const WireSpeed& wire) {
  return {2 * wire.latency_seconds, all_reduce_factor(ranks), wire.bytes_per_second};
}

namespace {

double seconds_of(double bytes, const ChannelSpeed& channel) {
  if (!(channel.bus_bytes_per_second > 0)) return channel.alpha_seconds;
  return channel.alpha_seconds + channel.factor * bytes / channel.bus_bytes_per_second;
}

}  // namespace

double all_reduce_seconds(int ranks, const WireSpeed& wire, int64_t bytes) {
  const bool small = bytes < static_cast<int64_t>(small_bucket_bytes);  // whole, to each of the others
  const ChannelSpeed one_round{wire.latency_seconds, ranks - 1.0, wire.bytes_per_second};
  return seconds_of(static_cast<double>(bytes), small ? one_round : all_reduce_channel(ranks, wire));
}

CommunicationCost communication_cost(std::span<const CommunicationBucket> buckets, const ChannelSpeed& channel,
                                     double backward_end_seconds) {
  CommunicationCost cost;
  for (const CommunicationBucket& bucket : buckets) {
    const double seconds = seconds_of(bucket.bytes, channel);
    cost.channel_seconds += seconds;
    cost.end_seconds = std::max(cost.end_seconds, bucket.ready_seconds) + seconds;
  }
  cost.exposed_seconds = std::max(0.0, cost.end_seconds - backward_end_seconds);
  return cost;
}

}  // namespace gpusizer
