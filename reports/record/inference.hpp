// SPDX-License-Identifier: Apache-2.0
// What was measured in an inference case: how fast requests were answered, and how well, in each form of the model.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reports/record/measurement.hpp"

namespace gpusizer::record {

// What an inference case was asked for, beside the rest of its configuration. A request is one batch.
struct InferenceRequest {
  std::string weights;   // where they come from: "trained" in this case, "file", "random"
  std::string arrivals;  // "back_to_back": each request comes when the one before is done; "poisson": they do not wait
  Maybe<double> offered_requests_per_second;  // poisson
  double pruned_share = 0;                    // of the weights, asked for
  UnknownFields unknown;

  friend bool operator==(const InferenceRequest&, const InferenceRequest&) = default;
};

// One form of the model, served and evaluated by itself.
struct InferenceRun {
  std::string name;       // "fp32", "pruned", "int8", "pruned int8"; the first one is what the others are compared with
  std::string precision;  // "fp32", "int8", ...
  Provenance provenance = Provenance::measured;
  std::int64_t requests = 0;  // served and measured; latencies are theirs
  std::int64_t warmup_requests = 0;
  std::int64_t samples = 0;          // in the measured requests
  std::string stop_reason;           // "requests_done", "max_seconds", "interrupted"
  Maybe<double> elapsed_seconds;     // from the start to the end of the last request
  Maybe<double> samples_per_second;  // samples / elapsed_seconds: at an offered rate no more than what was offered
  Maybe<double> requests_per_second;
  // From a request's arrival to its answer, waiting for others included. Percentiles by nearest rank; missing where
  // there are too few requests.
  Maybe<double> mean_seconds, p50_seconds, p90_seconds, p99_seconds, longest_seconds;
  Maybe<double> busy_share;  // of elapsed_seconds in which a request was worked on
  // On the test data:
  Maybe<double> accuracy, loss;
  std::int64_t evaluated_samples = 0;
  Numbers outputs;                          // means of what else the model reports
  Maybe<double> zero_share;                 // of the weights that may be pruned, that are zero after pruning
  Maybe<double> integer_share;              // of the multiply-accumulates
  Maybe<std::int64_t> calibration_samples;  // from which the ranges of integers were taken
  std::int64_t weight_bytes = 0;            // in memory, with what else stays between requests
  std::int64_t planned_bytes = 0;           // with what a request needs while it is worked on
  UnknownFields unknown;

  friend bool operator==(const InferenceRun&, const InferenceRun&) = default;
};

struct Inference {
  std::vector<InferenceRun> runs;
  UnknownFields unknown;

  friend bool operator==(const Inference&, const Inference&) = default;
};

}  // namespace gpusizer::record
