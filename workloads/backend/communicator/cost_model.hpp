// SPDX-License-Identifier: Apache-2.0
// How much of a step's communication computation cannot hide, from the sizes of the buckets and the speed of the
// channel.
#pragma once

#include <cstdint>
#include <span>

#include "workloads/backend/communicator/wire.hpp"

namespace gpusizer {

// Gradients that are reduced together. Times count from the beginning of the step.
struct CommunicationBucket {
  double ready_seconds = 0;  // its last gradient is made
  double bytes = 0;
};

// What one bucket costs on a channel that carries one after the other: alpha + factor * bytes / bus_bytes_per_second.
struct ChannelSpeed {
  double alpha_seconds = 0;
  double factor = 1;  // all_reduce_factor()
  double bus_bytes_per_second = 0;
};

struct CommunicationCost {
  double channel_seconds = 0;  // the channel is in use
  double end_seconds = 0;      // the last bucket is there
  double exposed_seconds = 0;  // of that after the backward pass
};

// 2 (n-1) / n: the share of a bucket's bytes that each of n ranks sends in an all-reduce that wastes none, the
// convention of "bus bandwidth".
double all_reduce_factor(int ranks);

// The channel of all_reduce() (collectives.hpp) over a wire: two rounds of messages, each with the wire's latency.
// A wire without a limit of its bandwidth has none here either. (Buckets below small_bucket_bytes take one round.)
ChannelSpeed all_reduce_channel(int ranks, const WireSpeed& wire);

// One all_reduce() of so many bytes over a wire, nothing else under way; small ones in their one round.
double all_reduce_seconds(int ranks, const WireSpeed& wire, int64_t bytes);

// e_0 = 0, e_k = max(e_(k-1), ready_k) + alpha + factor S_k / bandwidth, exposed = max(0, e_K - backward end).
// Buckets in the order in which they are reduced.
CommunicationCost communication_cost(std::span<const CommunicationBucket> buckets, const ChannelSpeed& channel,
                                     double backward_end_seconds);

}  // namespace gpusizer
