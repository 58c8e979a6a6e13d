// SPDX-License-Identifier: Apache-2.0
// What was measured in one case: step times, phases, memory, and how well the model learned.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reports/record/maybe.hpp"
#include "reports/record/metric.hpp"

namespace gpusizer::record {

// A long series of step times in its own file beside the report (text, one number of seconds per line).
struct SeriesFile {
  std::string name;    // file name only, in the folder of the report
  std::string sha256;  // of its bytes, 64 hexadecimal digits
  std::int64_t bytes = 0;
  std::int64_t steps = 0;
  UnknownFields unknown;

  friend bool operator==(const SeriesFile&, const SeriesFile&) = default;
};

// The longest series of step times that stays inside the report.
inline constexpr std::size_t inline_steps_limit = 10'000;

// Text comes padded to the lengths that there are programs for; padding is worked on and worth nothing.
struct Tokens {
  std::int64_t real_tokens = 0;    // in the measured steps
  std::int64_t padded_tokens = 0;  // beside them, in the same steps
  Maybe<double> tokens_per_second;  // real_tokens / measured_seconds
  UnknownFields unknown;

  friend bool operator==(const Tokens&, const Tokens&) = default;
};

// Numbers by name. One that was not finite has no value, and is null in JSON.
using Numbers = std::map<std::string, std::optional<double>>;

// Steps whose update mixed precision left out, since a gradient overflowed.
struct Skips {
  std::int64_t steps = 0;  // among those after warm-up; not among measured_steps, their time is in measured_seconds
  UnknownFields unknown;

  friend bool operator==(const Skips&, const Skips&) = default;
};

struct Measurement {
  // Every finished timed step in order, warm-up included: the first `warmup_steps` of them are cut, the other
  // `measured_steps` count. Fill it however long it is: write_report() moves a series longer than
  // inline_steps_limit into `series_file` and leaves `block_mean_seconds` (mean of each `block_steps`
  // consecutive steps; the last block may be shorter) in its place.
  std::vector<double> step_seconds;
  std::vector<double> block_mean_seconds;
  std::int64_t block_steps = 1;
  std::optional<SeriesFile> series_file;

  std::int64_t warmup_steps = 0;
  std::int64_t measured_steps = 0;
  std::int64_t tail_steps = 0;  // among the measured ones: with the smaller last batch of an epoch
  std::int64_t samples = 0;     // really processed in the measured steps, see Throughput
  std::optional<Skips> skipped;  // empty: no step can be skipped
  std::optional<Tokens> tokens;  // of text; empty: the samples have no lengths
  Maybe<double> measured_seconds;  // wall time of the measured steps: throughput = samples / measured_seconds

  // Shape of the measured steps; fill_step_summary() computes them.
  Maybe<double> mean_step_seconds, p50_step_seconds, p95_step_seconds, sd_step_seconds;

  Maybe<double> half_width_relative;         // 95 % half width of the mean step time / mean, actually reached
  Maybe<double> target_half_width_relative;  // what was asked for
  // Why measuring ended, one word: precision_reached, max_steps, max_seconds, epochs_done, target_reached,
  // no_progress, no_steady_state, interrupted, error, not_started. More words may come in later versions.
  std::string stop_reason = "not_started";

  Maybe<std::int64_t> stall_steps;             // among the measured ones
  Maybe<double> stall_rate, stall_rate_upper;  // share of steps, and its one-sided 97.5 % limit
  Maybe<double> data_wait_seconds;             // of measured_seconds, waiting for input
  UnknownFields unknown;

  friend bool operator==(const Measurement&, const Measurement&) = default;
};

// Mean seconds per step, from separate profiled steps (so that measuring does not slow what is measured).
struct Phases {
  Maybe<double> input_seconds, forward_seconds, backward_seconds, update_seconds;
  Maybe<std::int64_t> profiled_steps;
  std::optional<double> communicate_seconds;  // on streams beside the others'; empty: one rank
  UnknownFields unknown;

  friend bool operator==(const Phases&, const Phases&) = default;
};

struct Memory {
  Maybe<std::int64_t> planned_peak_bytes;  // of the memory plan, per device
  Maybe<std::int64_t> allocated_bytes;     // what the backend really took, per device
  Maybe<std::int64_t> peak_rss_bytes;      // of the whole process, largest of this case
  UnknownFields unknown;

  friend bool operator==(const Memory&, const Memory&) = default;
};

// What a case saved so that it could go on after an interruption. Saving is in no step's time.
struct Checkpoints {
  std::int64_t count = 0;                     // written, those before a resume included
  Maybe<std::int64_t> bytes;                  // of the last one
  Maybe<double> mean_seconds, last_seconds;   // of writing one, until it was on the disk
  Maybe<std::int64_t> resumed_at_step;        // finished steps of the checkpoint that the case last went on from
  UnknownFields unknown;

  friend bool operator==(const Checkpoints&, const Checkpoints&) = default;
};

struct LossPoint {
  std::int64_t step = 0;  // counted from 1, warm-up included
  Maybe<double> loss;     // mean over the batch; null when it was not finite
  UnknownFields unknown;

  friend bool operator==(const LossPoint&, const LossPoint&) = default;
};

struct Evaluation {
  double epochs = 0;              // of training done before it
  Maybe<double> accuracy, loss;   // accuracy is a share, 0 to 1
  std::int64_t samples = 0;       // evaluated
  Maybe<double> training_seconds; // spent training until then, evaluation excluded
  Numbers outputs;                // means over the test data of what else the model reports: "mlm_accuracy"
  UnknownFields unknown;

  friend bool operator==(const Evaluation&, const Evaluation&) = default;
};

struct Training {
  std::vector<LossPoint> loss_curve;
  std::vector<Evaluation> evaluations;
  Numbers baselines;                     // what guesses without a model reach on the test data, by name
  Maybe<double> final_loss;
  Maybe<double> accuracy;                // of the last evaluation, 0 to 1
  Maybe<double> epochs;                  // done
  Maybe<double> time_to_target_seconds;  // training and evaluation, from the first step
  Maybe<std::int64_t> non_finite_step;   // the first step whose loss was not finite; missing when all were
  UnknownFields unknown;

  friend bool operator==(const Training&, const Training&) = default;
};

}  // namespace gpusizer::record
