// SPDX-License-Identifier: Apache-2.0
// How a case was spread over ranks, what its ranks waited for, and how its throughput grew with them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reports/record/maybe.hpp"
#include "reports/record/metric.hpp"

namespace gpusizer::record {

// Messages were delayed on purpose: the case shows what such a network would do, it did not run on one. Its throughput
// has the provenance "emulated", and the validity flag "simulated_wire" blocks advice; check_report() demands both.
struct Wire {
  double latency_seconds = 0;    // of each message
  double bytes_per_second = 0;   // 0: no limit
  UnknownFields unknown;

  friend bool operator==(const Wire&, const Wire&) = default;
};

// The layout. Present where a case has more than one rank, or one rank does what belongs to many (recompute, a norm
// group).
struct Parallel {
  std::int64_t dp = 1, pp = 1, tp = 1;  // replicas, pipeline stages, tensor slices
  std::int64_t ranks = 1;               // dp * pp * tp
  std::string transport;                // "none" for one rank, "threads", "mpi", "tcp"
  Maybe<std::int64_t> threads_per_rank;  // CPU threads that compute
  std::vector<std::int64_t> stages;     // layers of each pipeline stage; empty without a pipeline
  std::string schedule;                 // "1f1b" or "gpipe"; empty without a pipeline
  std::int64_t micro_batches = 1;       // that a replica's batch is cut into
  bool sharded_optimizer = false, recompute = false, sync_batch_norm = false;
  std::int64_t norm_group = 0;   // samples that a batch norm takes together; 0: the micro-batch
  std::string mode = "sync";     // gradients summed in every step; "local_sgd"; "async"
  std::int64_t period = 0;       // local_sgd: steps between two averages of the weights
  std::int64_t staleness = 0;    // async: steps that a rank may be ahead of the slowest
  std::string scaling = "weak";  // the batch per replica was given; "strong": the batch of the whole job was
  std::optional<Wire> wire;
  UnknownFields unknown;

  friend bool operator==(const Parallel&, const Parallel&) = default;
};

// An all-reduce by itself, nothing else running, of a size that the workload uses.
struct AllReduceTime {
  std::int64_t bytes = 0;
  Maybe<double> seconds;               // median of the repetitions, of the slowest rank
  Maybe<double> bus_bytes_per_second;  // bytes / seconds * 2 (n - 1) / n over n ranks: comparable for every n
  UnknownFields unknown;

  friend bool operator==(const AllReduceTime&, const AllReduceTime&) = default;
};

// What the ranks sent and waited for, per step. Empty for one rank.
struct Communication {
  std::vector<std::int64_t> bucket_bytes;  // of gradients, in the order of their all-reduces, on rank 0
  // Time of a measured step in which a rank had nothing to do but to wait for communication: mean over the ranks, and of
  // the rank that waited longest.
  Maybe<double> exposed_seconds, worst_exposed_seconds;
  // What a model of one channel says about it: each sum starts when its gradients are made and the one before is done.
  Maybe<double> modelled_exposed_seconds = Maybe<double>::missing("no step was profiled");
  std::vector<AllReduceTime> all_reduces;
  std::vector<double> rank_step_seconds;  // mean step of each world rank without its waiting for others
  Maybe<std::int64_t> slowest_rank;       // the one with the longest of them
  UnknownFields unknown;

  friend bool operator==(const Communication&, const Communication&) = default;
};

// A value with its 95 % interval.
struct Ratio {
  double value = 0, low = 0, high = 0;
  UnknownFields unknown;

  friend bool operator==(const Ratio&, const Ratio&) = default;
};

// Against the case with the fewest ranks among those that are otherwise the same. fill_scaling() computes it.
struct Scaling {
  std::string kind;           // "weak" or "strong"
  std::string baseline_case;  // its id
  std::int64_t baseline_ranks = 1;
  std::optional<Ratio> speedup;     // throughput / the baseline's
  std::optional<Ratio> efficiency;  // speedup * baseline_ranks / ranks
  std::string null_reason;          // why there are none
  UnknownFields unknown;

  friend bool operator==(const Scaling&, const Scaling&) = default;
};

}  // namespace gpusizer::record
