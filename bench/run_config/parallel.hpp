// SPDX-License-Identifier: Apache-2.0
// How a case is spread over ranks, and what is done to it on the way: a slow wire, a rehearsed fault.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gpusizer {

// Delays each message by latency + bytes / bytes_per_second, without using the processor. What is measured over it is
// simulated.
struct WireOptions {
  double latency_seconds = 0;
  double bytes_per_second = 0;  // 0: no limit
};

// A fault on purpose, to see that a run survives it.
struct FaultOptions {
  std::string kind;  // "throw", "stall", "exit" (the process ends), "nan" (the rank's loss)
  std::int64_t rank = 0;
  std::int64_t step = 0;  // counted from 1: it happens as that step starts
};

// World rank = (replica * pp + stage) * tp + slice.
struct ParallelOptions {
  std::int64_t dp = 1, pp = 1, tp = 1;  // replicas, pipeline stages of each, slices of each stage
  bool dp_given = false;                // else it follows from `devices`
  std::optional<std::int64_t> devices;  // asked for; after complete_case() the number of ranks
  // Of the largest layout in the same sweep. Without --threads each rank has this share of the machine's threads, so
  // that a sweep compares ranks of one size; 0: no sweep, the layout's own number of ranks.
  std::int64_t ranks_of_largest = 0;
  std::vector<std::int64_t> stages;     // blocks in each pipeline stage, see plan_stages(); empty: balanced
  std::string schedule = "1f1b";        // or "gpipe": order of a pipeline's micro-batches, as many as --accumulate says
  bool sharded = false;                 // each replica updates only its part of the parameters
  bool recompute = false;               // activations are computed again instead of kept
  std::int64_t norm_group = 0;          // samples that a batch norm takes together; 0: the micro-batch of its replica
  bool sync_batch_norm = false;         // batch norms over all replicas
  double comm_timeout_seconds = 120;
  std::string mode = "sync";   // or "local_sgd": weights averaged every `period` steps; or "async"
  std::int64_t period = 0;     // local_sgd: steps
  std::int64_t staleness = 0;  // async: steps by which gradients come later, and a rank may be ahead of the slowest
  std::int64_t bucket_mib = 25;  // gradients that one all-reduce carries, in 2^20 bytes; 0: all of them
  std::string scaling = "weak";  // or "strong": --batch is the whole job's
  std::optional<WireOptions> wire;
  std::optional<FaultOptions> fault;

  std::int64_t ranks() const { return dp * pp * tp; }
};

}  // namespace gpusizer
