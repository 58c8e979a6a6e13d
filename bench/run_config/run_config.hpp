// SPDX-License-Identifier: Apache-2.0
// What a run is to do: a list of cases, each of them one workload with all that is needed to run it again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/run_config/parallel.hpp"
#include "workloads/models/models.hpp"

namespace gpusizer {

// One workload to run. What nobody said stays empty here and is decided by complete_case() or by the model and its data.
struct CaseConfig {
  std::string model;
  std::string data = "synthetic";  // "name", "name:path" or a folder, see open_data_source()
  std::int64_t synthetic_samples = 0;  // in an epoch of synthetic data; 0: as many as ImageNet has
  ModelOptions options;                // 0 and empty: the data's, else the model's own
  std::vector<std::int64_t> buckets;   // text: lengths that samples are padded to, ascending; empty: one for all
  std::string vocabulary_file;         // text; empty: the source's own way
  std::vector<std::string> columns, targets;  // series: features and what is forecast; empty: the source's own choice
  std::string date_column, target_base, rows;  // series: see SeriesOptions; empty: the source's own choice
  std::string device = "cpu";  // the backend's name
  std::int64_t threads = 0;    // that compute; 0: all that the process may use
  std::int64_t loader_threads = 0;    // that prepare samples; 0: decided by the data source
  std::optional<std::int64_t> batch;  // of each replica; empty: by the model and the size of its samples
  std::optional<std::int64_t> job_batch;  // strong scaling: of all replicas, what `batch` was before complete_case()
  ParallelOptions parallel;
  std::string sweep_words;  // of its id, for what a sweep changes and the id would not show: "/lr:0.1"
  // Random shifts, crops and mirror images in training, as the data source has them. Empty: from 10 epochs on, since in
  // a short run they only slow the learning (Fashion-MNIST, resnet8, 3 epochs: 0.887 with, 0.906 without).
  std::optional<bool> augment;
  std::string tail = "keep";        // or "drop": the smaller last batch of an epoch
  std::string precision = "fp32";
  std::uint64_t seed = 1;

  // How long: whole epochs, or an exact number of steps, or (neither) until the mean step time is precise enough.
  std::optional<double> epochs;
  std::optional<std::int64_t> steps;
  std::int64_t warmup = 1;  // leading steps that never count; MSER-5 may find more
  std::optional<std::int64_t> max_steps;
  std::optional<double> max_seconds;
  double precision_target = 0.02;

  std::string optimizer;  // "sgd", "adam", "adamw", "adagrad", "lamb"; empty: the family's customary one
  std::optional<double> lr, momentum, weight_decay;
  double beta1 = 0.9, beta2 = 0.999;  // adam, adamw, lamb
  double l1 = 0, clip_norm = 0;       // 0: none
  std::int64_t accumulate = 1;        // micro-batches that a step's batch is cut into
  std::string schedule;  // "constant", "cosine", "linear", "step"; empty: cosine where the number of steps is known
  double lr_warmup_share = 0.1;  // of all steps, rising linearly from nearly 0 (not with a constant rate)
  std::int64_t patience = 0;     // stop after so many evaluations without a better loss; 0: never
  std::optional<bool> eval;      // evaluate on the test set after each epoch; empty: where epochs or a target are asked for
  std::optional<double> target_accuracy;  // 0 to 1: stop when the test accuracy reaches it

  std::string checkpoint;  // a folder for what is needed to go on after an interruption; empty: nothing is saved
  std::optional<std::int64_t> checkpoint_every;  // steps between two; empty: as many as an epoch has
  std::string checkpoint_of;  // the case whose checkpoints these are, the same job in another layout; empty: its own

  std::string mode = "train";  // or "infer": answers requests of `batch` samples, after a training where one is asked for
  std::optional<double> rate;  // infer: requests offered per second; empty: one after the other
  std::optional<std::int64_t> requests;  // infer: how many; or as many as come in max_seconds
  double prune = 0;      // infer: share of the weights that become zero
  std::string weights;   // infer: a safetensors file; empty: trained, or random without epochs and steps
  std::optional<std::int64_t> training_batch;  // infer: of the training
};

struct RunConfig {
  std::string suite;  // name or path; empty: one case from flags
  std::vector<CaseConfig> cases;
};

// Checks everything that can be checked without data or a device, and fills what follows from other fields.
// Throws Error(usage) naming the flag (or, in a suite, the case) and what to do. See check_case.cpp for the rules.
CaseConfig complete_case(CaseConfig config);

// Whether the case trains at all: not for inference with given or random weights.
bool trains(const CaseConfig& config);

// "resnet50/synthetic/b16/fp32/cpu": the same whenever the same case is run, with what departs from the usual appended.
std::string case_id(const CaseConfig& config);

// Whose checkpoints a case of that id writes and goes on from.
inline const std::string& checkpoint_id(const CaseConfig& config, const std::string& case_id) {
  return config.checkpoint_of.empty() ? case_id : config.checkpoint_of;
}

}  // namespace gpusizer
