// SPDX-License-Identifier: Apache-2.0
// The report of gpusizer as plain structs: a list of cases, each of them one workload that was run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reports/record/environment.hpp"
#include "reports/record/inference.hpp"
#include "reports/record/kinds.hpp"
#include "reports/record/maybe.hpp"
#include "reports/record/measurement.hpp"
#include "reports/record/metric.hpp"
#include "reports/record/parallel.hpp"

// Rules of the format (see README.md of this folder):
//   plain fields carry their unit in the name; a missing number is a Maybe or an optional with its reason;
//   fields are only added within a major version, never renamed, never given another meaning.
namespace gpusizer::record {

inline constexpr const char* schema_name = "gpusizer.report/1";

struct OptimizerDetails {
  std::int64_t micro_batches = 1;  // that a step's batch was cut into; the learning rate is one for the whole batch
  double clip_norm = 0, l1 = 0;    // 0: none
  double beta1 = 0, beta2 = 0;     // of Adam, AdamW and LAMB
  UnknownFields unknown;

  friend bool operator==(const OptimizerDetails&, const OptimizerDetails&) = default;
};

// What was run, in full: enough to run it again.
struct Config {
  std::string model;        // "resnet50"
  StringMap model_options;  // "classes" -> "10", "stem" -> "cifar"
  std::string data;         // "synthetic", "fashion-mnist", "image-folder"
  StringMap data_options;   // "path", "image_size", ...
  Maybe<std::int64_t> dataset_samples;  // training samples of one epoch; missing for synthetic data
  std::string device_kind = "cpu";      // the backend: "cpu", "cuda", "simulated"
  std::string device;                   // model of the device, as in environment.devices
  std::int64_t devices = 1;             // of the whole job
  std::int64_t replicas = 1;            // data-parallel copies of the model, <= devices
  std::int64_t batch_per_replica = 0;   // samples per step and replica
  Maybe<std::int64_t> threads;          // CPU threads used for computing, per process
  std::string precision = "fp32";       // "fp32", "bf16", "fp16"
  std::uint64_t seed = 0;
  std::string optimizer;  // "sgd", "adamw"
  std::optional<OptimizerDetails> optimizer_details;
  Maybe<double> learning_rate, momentum, weight_decay;
  std::string learning_rate_schedule;                       // "constant", "cosine"; empty: not applicable
  Maybe<double> requested_epochs, target_accuracy;          // what the run was asked for
  Maybe<double> max_seconds;
  Maybe<std::int64_t> max_steps;
  std::optional<InferenceRequest> inference;  // empty: it was trained for its own sake
  std::optional<Parallel> parallel;           // empty: one rank
  UnknownFields unknown;

  friend bool operator==(const Config&, const Config&) = default;
};

// Counted from the program, not measured. A multiply-accumulate is 2 FLOP.
struct Facts {
  Maybe<std::int64_t> parameters;
  Maybe<std::int64_t> forward_macs_per_sample;
  Maybe<std::int64_t> model_flops_per_sample;  // of one training step: forward and backward
  Maybe<std::int64_t> gradient_bytes;          // what a data-parallel step exchanges, per replica
  UnknownFields unknown;

  friend bool operator==(const Facts&, const Facts&) = default;
};

// A reason to distrust the numbers of a case. They are shown with it, and not recommended if `blocks_advice`.
struct ValidityFlag {
  std::string id;        // for machines: "non_finite_loss", "precision_not_reached", "short_run"
  std::string sentence;  // for people
  bool blocks_advice = true;
  UnknownFields unknown;

  friend bool operator==(const ValidityFlag&, const ValidityFlag&) = default;
};

// What makes two cases comparable. make_fingerprint() in fingerprint.hpp fills it.
struct Fingerprint {
  StringMap identity;     // must be equal for a comparison: workload and hardware
  StringMap environment;  // shown when different: system, libraries, compiler
  StringMap state;        // may veto a verdict: clocks, temperatures, load
  std::string identity_hash, environment_hash;  // 16 hexadecimal digits, the same on every machine
  UnknownFields unknown;

  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
};

// One run record.
struct Case {
  std::string id;  // unique in a report and the same whenever the same case is run: "resnet50/synthetic/b16/fp32/cpu"
  Config config;
  CaseStatus status = CaseStatus::skipped;
  std::string reason;  // one sentence; empty only when status is ok
  std::string started_utc;  // RFC 3339, "2026-01-31T12:00:00Z"; empty when not started
  Facts facts;
  Measurement measurement;
  Throughput throughput;
  Phases phases;
  Memory memory;
  Training training;
  std::optional<Checkpoints> checkpoints;  // empty: none were asked for
  std::optional<Inference> inference;      // of an inference case, whose throughput is missing
  std::optional<Communication> communication;  // between the ranks of config.parallel
  std::optional<Scaling> scaling;          // empty: nothing to compare it with
  std::vector<Metric> metrics;
  std::vector<ValidityFlag> validity_flags;
  Fingerprint fingerprint;
  UnknownFields unknown;

  friend bool operator==(const Case&, const Case&) = default;
};

struct Report {
  std::string schema = schema_name;
  std::string created_utc;  // RFC 3339
  ReportStatus status = ReportStatus::partial;
  Provenance provenance = Provenance::measured;
  Tool tool;
  std::string command_line;  // repeats the run when pasted into a shell
  Environment environment;
  std::vector<Case> cases;
  UnknownFields unknown;

  friend bool operator==(const Report&, const Report&) = default;
};

}  // namespace gpusizer::record
