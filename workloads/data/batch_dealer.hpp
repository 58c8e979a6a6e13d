// SPDX-License-Identifier: Apache-2.0
// Which samples make up which batch: the order of an epoch, dealt into batches of one bucket each.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/data/epoch_order.hpp"
#include "workloads/data/sample_source.hpp"

namespace gpusizer {

// Which of an epoch's samples the loader of one of a model's replicas reads.
struct Sharing {
  int64_t replica = 0, replicas = 1;
  // false: its part of every batch, in order, parts as even as can be, and a batch with fewer samples than there are
  // replicas is left out. true: whole batches in turn, which may be none at all.
  bool in_turn = false;
};

// How many of so many samples are in a replica's part.
int64_t part_samples(int64_t samples, const Sharing& share);

struct DealingOptions {
  int64_t batch = 1;
  bool shuffle = false;  // by (seed, epoch)
  uint64_t seed = 0;
  bool drop_last = false;  // leave out each bucket's shorter batch
  Sharing share{};         // of the batches, which are those of all replicas
};

// The samples of an epoch come in order (shuffled or not), each goes to its bucket's open batch, and a batch is dealt
// when it is full. What is left at the end of the epoch becomes each bucket's tail batch, in the order of the buckets.
// How many samples a bucket has is the same in every epoch, so the number of batches and the tails' sizes are too.
class BatchDealer {
 public:
  // Looks at every sample's bucket when there are several. Throws Error(usage) when no batch would be left.
  BatchDealer(const SampleSource& source, const DealingOptions& options);

  int64_t batches_per_epoch() const { return batches_per_epoch_; }  // that this replica has samples of
  int64_t samples_per_epoch() const { return samples_per_epoch_; }  // of all replicas
  int64_t batch_samples() const { return batch_samples_; }          // of this replica's part of the largest batch

  void start_epoch(int64_t epoch);
  // Puts the next batch's samples into `samples` and returns their bucket; after the last batch comes the next epoch.
  // Never allocates when `samples` has room for batch_samples().
  int64_t deal(std::vector<int64_t>& samples);
  // How many samples all replicas have of the batch that was dealt last.
  int64_t whole_samples() const { return whole_samples_; }

 private:
  bool hand_out(size_t bucket, std::vector<int64_t>& samples);

  const SampleSource& source_;
  DealingOptions options_;
  int64_t batch_samples_ = 0, batches_per_epoch_ = 0, samples_per_epoch_ = 0;
  std::vector<std::vector<int64_t>> open_;  // for each bucket the samples of its unfinished batch
  EpochOrder order_;
  int64_t epoch_ = 0;
  int64_t whole_samples_ = 0, turn_ = 0;
  int64_t position_ = 0;   // in the epoch's order
  size_t tail_bucket_ = 0;  // once all samples are dealt: the first bucket whose tail was not handed out
};

// How many samples each bucket has.
std::vector<int64_t> bucket_sizes(const SampleSource& source);

}  // namespace gpusizer
