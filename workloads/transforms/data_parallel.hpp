// SPDX-License-Identifier: Apache-2.0
// Data parallelism as a transform: each replica trains on its share of every batch, gradients are summed in buckets.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "workloads/program/autodiff.hpp"
#include "workloads/program/optimizer.hpp"

namespace gpusizer {

struct DataParallelOptions {
  int32_t rank = 0;                  // whose step this is, in the world
  std::vector<int32_t> replicas{0};  // world ranks that hold the same part of the model, ascending, this one included
  // Parameters that other stages hold too, and all world ranks that sum their gradients together, ascending; those of
  // parameters that this rank holds include it.
  std::map<std::string, std::vector<int32_t>> tied{};
  // This replica's samples of a step and those of all replicas. 0 samples: it only keeps step with the others, on a
  // batch that does not count (bind labels of -1 where negative ones are ignored).
  int64_t samples = 1, total_samples = 1;
  int64_t bucket_bytes = int64_t{25} << 20, first_bucket_bytes = int64_t{1} << 20;  // as PyTorch's
  // Asynchronous steps: gradients are summed while later steps are computed, and a step updates with the sums of so many
  // steps ago. Not with `sharded` or `tied`.
  std::optional<int32_t> delay{};
  bool sharded = false;  // each parameter is updated by one rank, its owner, which gives it to the others
  // For parallel_update(): the world ranks that hold this rank's replica together, ascending (empty: this one alone);
  // how many ranks there are; and of ranks that hold equal copies of a parameter which tensor parallelism does not
  // split, whether this is the first.
  std::vector<int32_t> model{};
  int32_t world = 1;
  bool first_slice = true;
};

// The step (after pipeline(), before add_optimizer()) whose gradients are those of the mean loss over all replicas:
//  - losses are weighted with the replica's share (loss_shares.hpp);
//  - gradients are collected in buckets in the order in which they become ready; a bucket's all_reduce (sharded:
//    reduce_scatter to the owners) stands directly after the operation that makes its last gradient;
//  - tied gradients have buckets of their own, after the others, in an order that is the same on all ranks.
// The result's gradients are the sums; sharded: of the parameters that this rank owns. One replica without tied
// parameters: the step as it is.
// With `delay` the sums are delayed_sum.hpp's, under the parameters' names, and count_delayed_steps() must come last. A
// loss that leaves out negative labels is then the mean over the replica's own, since counting those of all would make
// replicas wait for each other. The first `delay` steps have zeros, which parallel_update() lets nobody update with.
// Throws Error(usage) for ranks that are not ascending or leave out this one, for a step with updates, and for a delay of
// what cannot be delayed.
Differentiated data_parallel(Differentiated step, const DataParallelOptions& options);

// The update that goes with it, for add_optimizer(); `step` is the one that data_parallel() was given.
ParallelUpdate parallel_update(const Differentiated& step, const DataParallelOptions& options);

// What one collective sums.
struct GradientBucket {
  std::vector<int32_t> ranks;
  int64_t bytes = 0;
  std::vector<TensorId> parameters, gradients;  // in the order in which they become ready
  std::vector<int32_t> owners;                  // of each parameter, where the optimizer is sharded
};

// The buckets in the order of their collectives, for the step that data_parallel() is given. One rank alone: none.
std::vector<GradientBucket> gradient_buckets(const Differentiated& step, const DataParallelOptions& options);

// For each size (bytes) the rank that owns the thing: the largest first, each to the rank with the least so far, the
// first of equals. `loads`: what each rank has already (empty: nothing).
std::vector<int32_t> balanced_owners(const std::vector<int64_t>& sizes, const std::vector<int32_t>& ranks,
                                     std::vector<int64_t> loads = {});

}  // namespace gpusizer
