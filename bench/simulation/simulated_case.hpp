// SPDX-License-Identifier: Apache-2.0
// A case on devices that are described and not here: its programs, their memory, and the time of a step.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/run_config/run_config.hpp"
#include "cloud/catalog/catalog.hpp"
#include "workloads/backend/simulated/simulate_step.hpp"
#include "workloads/program/facts.hpp"

namespace gpusizer {

struct SimulatedCase {
  CaseConfig config;  // complete; parallel.dp as asked for
  std::int64_t devices = 1, nodes = 1;
  simulated::DeviceDescription device;
  Facts facts;  // of the unsplit step
  std::vector<LoweredProgram> programs;  // of the roles: the stages of the first replica
  std::vector<std::int32_t> ranks;
  simulated::SimulatedStep step;
  std::int64_t planned_bytes = 0;  // of the role that needs the most
  double samples_per_step = 0;     // of all replicas

  double samples_per_second() const { return samples_per_step / step.seconds; }
  // Planned bytes against what a program may use of the card (94 %); above 1: it does not fit.
  double memory_need() const;
  bool fits() const { return memory_need() <= 1; }
};

inline constexpr std::int64_t most_simulated_devices = 16384;

// `config` as flags give it, before complete_case(); its layout may have up to most_simulated_devices ranks. `nodes`: 0 is
// as many as the devices need. Throws Error(usage) for what cannot be.
SimulatedCase simulate_case(CaseConfig config, const cloud::Gpu& gpu, const cloud::Catalog& catalog, std::int64_t nodes);

std::string trace_of(const SimulatedCase& simulated);

// What limits the step, in words: "memory bandwidth", "arithmetic", "communication", "launches".
std::string bottleneck_of(const SimulatedCase& simulated);

}  // namespace gpusizer
