// SPDX-License-Identifier: Apache-2.0
// Reads the vector clocks of a program once, so that a step has only numbers to compare.
#include "workloads/backend/streams/stream_plan.hpp"

#include <algorithm>

namespace gpusizer {

namespace {

// Its own stream keeps its order anyway.
StreamCounts needs_of(const HappensBefore& order, int32_t op) {
  StreamCounts needs{};
  for (size_t s = 0; s < order.stream_count(); ++s)
    if (order.stream(op) != static_cast<int32_t>(s)) needs[s] = order.done_before(op, s);
  return needs;
}

// Computation looks up only where there is something new to wait for.
void mark_waits(StreamPlan& plan) {
  StreamCounts known{};
  for (StreamPlan::Step& step : plan.streams[compute_stream]) {
    for (size_t s = compute_stream + 1; s < known.size(); ++s) {
      step.waits = step.waits || step.needs[s] > known[s];
      known[s] = std::max(known[s], step.needs[s]);
    }
  }
}

void mark_awaited(StreamPlan& plan) {
  auto& computation = plan.streams[compute_stream];
  for (size_t s = compute_stream + 1; s < plan.streams.size(); ++s)
    for (const StreamPlan::Step& step : plan.streams[s])
      if (const int32_t count = step.needs[compute_stream]; count > 0)
        computation[static_cast<size_t>(count - 1)].awaited = true;
}

}  // namespace

bool StreamPlan::communicates() const {
  return std::any_of(totals.begin() + compute_stream + 1, totals.end(), [](int32_t count) { return count > 0; });
}

StreamPlan stream_plan(const Program& program) {
  const HappensBefore order{program, streams_of(program)};
  StreamPlan plan;
  for (int32_t op = 0; op < static_cast<int32_t>(program.operations.size()); ++op) {
    const auto stream = static_cast<size_t>(order.stream(op));
    plan.streams[stream].push_back({op, needs_of(order, op), false, false});
    ++plan.totals[stream];
  }
  mark_waits(plan);
  mark_awaited(plan);
  return plan;
}

}  // namespace gpusizer
