// SPDX-License-Identifier: Apache-2.0
// One training step on described devices: every operation with its beginning and end, on four streams of each rank.
//
// Only one rank of each distinct role runs: the stages of one replica, since replicas and slices do the same at the same
// time. Their programs may be those of fewer replicas than there are; `replicas` says how many take part in truth.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "workloads/backend/simulated/device_description.hpp"
#include "workloads/lowering/lowered_program.hpp"

namespace gpusizer::simulated {

struct Role {
  std::int32_t rank = 0;  // in the world of its program
  const LoweredProgram* step = nullptr;
};

struct World {
  std::int64_t devices = 1;           // in truth
  std::int64_t ranks_per_replica = 1;
};

struct Span {
  std::size_t role = 0;
  std::int32_t operation = 0;
  std::int32_t stream = 0;
  double begin_seconds = 0, end_seconds = 0;
};

struct SimulatedStep {
  double seconds = 0;
  // Of the role that computes longest:
  double compute_seconds = 0;    // its operations' work, launches left out
  double launch_seconds = 0;
  double exposed_seconds = 0;    // the rest: waiting for communication or for other stages
  double communication_seconds = 0;  // collectives and messages of that role, hidden or not
  double floor_seconds = 0;      // the roofline of the busiest role
  std::vector<Span> spans;       // in the order of simulation
};

// Operations of a stream run in list order, across streams they wait for what they read and overwrite, a receive waits
// for its message, a collective for all roles that take part. Throws Error(failed) when ranks wait for each other for ever.
SimulatedStep simulate_step(std::span<const Role> roles, const World& world, const DeviceDescription& device);

// The step as JSON for chrome://tracing and Perfetto: one process for each role, one thread for each stream.
std::string chrome_trace(std::span<const Role> roles, const SimulatedStep& step, const std::string& title);

}  // namespace gpusizer::simulated
