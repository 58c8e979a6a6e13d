// SPDX-License-Identifier: Apache-2.0
// One channel, bucket after bucket.
#include "workloads/backend/communicator/cost_model.hpp"

#include <algorithm>

namespace gpusizer {

double all_reduce_factor(int ranks) { return ranks > 1 ? 2.0 * (ranks - 1) / ranks : 0.0; }

ChannelSpeed all_reduce_channel(int ranks, const WireSpeed& wire) {
  return {2 * wire.latency_seconds, all_reduce_factor(ranks), wire.bytes_per_second};
}

CommunicationCost communication_cost(std::span<const CommunicationBucket> buckets, const ChannelSpeed& channel,
                                     double backward_end_seconds) {
  CommunicationCost cost;
  for (const CommunicationBucket& bucket : buckets) {
    double seconds = channel.alpha_seconds;
    if (channel.bus_bytes_per_second > 0) seconds += channel.factor * bucket.bytes / channel.bus_bytes_per_second;
    cost.channel_seconds += seconds;
    cost.end_seconds = std::max(cost.end_seconds, bucket.ready_seconds) + seconds;
  }
  cost.exposed_seconds = std::max(0.0, cost.end_seconds - backward_end_seconds);
  return cost;
}

}  // namespace gpusizer
