// SPDX-License-Identifier: Apache-2.0
// A simulated case as a case of a report: like a measured one, and marked as predicted.
#pragma once

#include "bench/simulation/simulated_case.hpp"
#include "reports/record/record.hpp"

namespace gpusizer {

// Status ok with a predicted throughput and step times, or oom where it does not fit. It has a flag that keeps it out of
// advice, and its id names the GPU and the number of devices.
record::Case record_of(const SimulatedCase& simulated);

// "simulated:H100-SXM5x64" -> GPU and count; "simulated:T4" is one. Throws Error(usage) naming the nearest GPUs.
struct SimulatedDevice {
  const cloud::Gpu* gpu = nullptr;
  std::int64_t devices = 1;
};
bool names_simulated_device(const std::string& device);
SimulatedDevice simulated_device(const std::string& device, const cloud::Catalog& catalog);

}  // namespace gpusizer
