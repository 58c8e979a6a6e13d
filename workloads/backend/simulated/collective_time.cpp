// SPDX-License-Identifier: Apache-2.0
// The formulas of collectives, each as its header has it.
#include "workloads/backend/simulated/collective_time.hpp"

#include <algorithm>
#include <cmath>

namespace gpusizer::simulated {
namespace {

constexpr double collective_base_seconds = 8.4e-6;  // NCCL's base latency of its Simple protocol

}  // namespace

double ring_seconds(double ranks, double bytes, const LinkDescription& link) {
  if (ranks <= 1) return 0;
  return 2 * (ranks - 1) * link.latency_seconds + 2 * (ranks - 1) / ranks * bytes / link.bytes_per_second;
}

double tree_seconds(double ranks, double bytes, const LinkDescription& link) {
  if (ranks <= 1) return 0;
  return 2 * std::log2(ranks) * link.latency_seconds + 2 * bytes / link.bytes_per_second;
}

double two_level_seconds(double per_node, double nodes, double bytes, const LinkDescription& inside,
                         const LinkDescription& across) {
  return ring_seconds(per_node, bytes, inside) + ring_seconds(nodes, bytes, across);
}

double nccl_ring_latency(int ranks, int nodes, const NcclLatency& latency, double network_overhead) {
  const double across = 2.0 * (nodes - 1), inside = 2.0 * (ranks - 1) - across;
  const double hop = nodes > 1 ? std::max(latency.ring_inside, 3 * network_overhead) : latency.ring_inside;
  return latency.ring_base + inside * hop + across * latency.ring_across;
}

double nccl_tree_latency(int ranks, int nodes, const NcclLatency& latency) {
  const double inside = double(ranks) / nodes - 1;
  return latency.tree_base + 2 * (inside * latency.tree_inside + std::log2(double(nodes)) * latency.tree_across);
}

double collective_seconds(CollectiveKind kind, const GroupShape& group, double bytes, const DeviceDescription& device) {
  if (group.ranks <= 1) return 0;
  const double per_node = std::max(1.0, group.ranks / group.nodes);
  const double inside = ring_seconds(per_node, bytes, device.inside);
  const double across = std::min(ring_seconds(group.nodes, bytes, device.across), tree_seconds(group.nodes, bytes, device.across));
  const double seconds = collective_base_seconds + inside + across;
  return kind == CollectiveKind::all_reduce ? seconds : seconds / 2;  // one round instead of two
}

double message_seconds(double bytes, bool across_nodes, const DeviceDescription& device) {
  const LinkDescription& link = across_nodes ? device.across : device.inside;
  return collective_base_seconds + link.latency_seconds + bytes / link.bytes_per_second;
}

}  // namespace gpusizer::simulated
