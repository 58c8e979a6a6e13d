// SPDX-License-Identifier: Apache-2.0
// How long ranks need for what they do together: latency + bytes / bandwidth, by rings, trees, and two levels of them.
#pragma once

#include "workloads/backend/simulated/device_description.hpp"

namespace gpusizer::simulated {

// All-reduce of `bytes` over n ranks, alpha per message, B bytes per second (Hockney's model):
double ring_seconds(double ranks, double bytes, const LinkDescription& link);  // 2(n-1) alpha + 2(n-1)/n S/B
double tree_seconds(double ranks, double bytes, const LinkDescription& link);  // 2 log2(n) alpha + 2 S/B

// Rings inside the nodes, one across them: both terms of ring_seconds().
double two_level_seconds(double per_node, double nodes, double bytes, const LinkDescription& inside,
                         const LinkDescription& across);

// NCCL's latencies (its tuning model, 2026): base + hops. Ring: 2(N-1) - 2(m-1) hops inside, of at least three times the
// network's overhead when there are several nodes, and 2(m-1) across; tree: 2 ((n-1) inside + log2(m) across).
struct NcclLatency {
  double ring_base, tree_base, ring_inside, ring_across, tree_inside, tree_across;
};
inline constexpr NcclLatency nccl_simple_nvlink{8.4e-6, 8.4e-6, 3.4e-6, 14e-6, 4.0e-6, 14e-6};
double nccl_ring_latency(int ranks, int nodes, const NcclLatency& latency, double network_overhead_seconds);
double nccl_tree_latency(int ranks, int nodes, const NcclLatency& latency);

enum class CollectiveKind { all_reduce, reduce_scatter, all_gather, broadcast };

// The group as it lies on nodes; not whole where the last node is not full.
struct GroupShape {
  double ranks = 1, nodes = 1;
};

// The faster of ring and tree across nodes, after rings inside them, as libraries choose. One rank: 0.
double collective_seconds(CollectiveKind kind, const GroupShape& group, double bytes, const DeviceDescription& device);

// One message between two ranks.
double message_seconds(double bytes, bool across_nodes, const DeviceDescription& device);

}  // namespace gpusizer::simulated
