// SPDX-License-Identifier: Apache-2.0
// One figure of a report with everything that is needed to compare it later.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reports/record/kinds.hpp"

namespace gpusizer::record {

// Fields that this version does not know, as (name, JSON text), in file order. They are written back unchanged.
using UnknownFields = std::vector<std::pair<std::string, std::string>>;

// `low` and `high` bound the 95 % interval. If any of the three is missing, `null_reason` says why.
struct Metric {
  std::string id;  // for ever the same, e.g. "throughput", "step_seconds"; unique within a case
  std::optional<double> value, low, high;
  std::string null_reason;
  std::string unit;  // base units, fixed per metric: "s", "B", "images/s", "1"
  Scope scope = Scope::job;
  Better better = Better::higher;
  std::vector<std::string> aliases;  // former ids, so that a renamed metric keeps its history
  std::vector<double> samples;       // what `value` was computed from, when that is not the step times; may be empty
  Provenance provenance = Provenance::measured;
  UnknownFields unknown;

  friend bool operator==(const Metric&, const Metric&) = default;
};

// What a throughput counts, always:
//   samples really processed in the finished steps of the measured window
//   / monotonic wall time from the start of the first to the end of the last of these steps.
// Waiting for input and stalls are inside the time; warm-up, profiled steps and evaluation are outside of it.
// A sample counts once per data-parallel replica that processed it (never once per pipeline or tensor rank),
// padded samples and steps whose update was skipped do not count, the smaller last batch counts its real size.
// Scope job: all replicas together. Scope per_device: that figure divided by config.devices.
struct Throughput {
  std::optional<double> value, low, high;  // 95 % interval of the mean; a missing one is explained by null_reason
  std::string null_reason = "not measured";
  std::string unit = "images/s";
  Scope scope = Scope::job;
  Provenance provenance = Provenance::measured;
  UnknownFields unknown;

  friend bool operator==(const Throughput&, const Throughput&) = default;
};

}  // namespace gpusizer::record
