// SPDX-License-Identifier: Apache-2.0
// One throughput that nobody measured, from what was measured nearby and what the simulated device says.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "reports/record/kinds.hpp"
#include "reports/sizing/scaling/interval_table.hpp"

namespace gpusizer {

// How a workload is run; the workload itself and plain data parallelism are the same for all that is compared.
struct RunPlace {
  std::string gpu;  // of the catalogue
  std::int64_t devices = 1, nodes = 1;
  std::string precision;
  std::int64_t batch = 0;  // of each device

  friend bool operator==(const RunPlace&, const RunPlace&) = default;
};

struct KnownRate {
  RunPlace place;
  double samples_per_second = 0;
  record::Provenance provenance = record::Provenance::measured;
  std::string source;
};

struct PredictedRate {
  double samples_per_second = 0, low = 0, high = 0;  // 90 % interval
  scaling::Evidence evidence = scaling::Evidence::predicted;
  record::Provenance provenance = record::Provenance::predicted;
  std::vector<std::string> from;      // which evidence, one sentence each
  std::vector<std::string> warnings;  // what speaks against relying on it
};

// Simulated samples per second at a place.
using SimulatedRate = std::function<double(const RunPlace&)>;

// In this order: the same place was measured (measured or published); the same GPU, precision and batch at other counts (the
// tiered model); the same workload elsewhere (the simulated device, corrected by the median of what it misses there); the
// simulated device alone. Predicted rates among `known` are never used. Intervals are those of back-tests, but for the
// simulated device's, which are set by hand.
PredictedRate predict_rate(const RunPlace& asked, std::span<const KnownRate> known, const SimulatedRate& simulated);

// The simulated device's own rate with the interval that it has alone.
PredictedRate simulated_alone(double samples_per_second);

}  // namespace gpusizer
