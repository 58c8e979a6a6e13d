// SPDX-License-Identifier: Apache-2.0
// Which samples make up which batch: the order of an epoch, dealt into batches of one bucket each.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/data/epoch_order.hpp"
#include "workloads/data/sample_source.hpp"

namespace gpusizer {

struct DealingOptions {
  int64_t batch = 1;
  bool shuffle = false;  // by (seed, epoch)
  uint64_t seed = 0;
  bool drop_last = false;  // leave out each bucket's shorter batch
};

// The samples of an epoch come in order (shuffled or not), each goes to its bucket's open batch, and a batch is dealt
// when it is full. What is left at the end of the epoch becomes each bucket's tail batch, in the order of the buckets.
// How many samples a bucket has is the same in every epoch, so the number of batches and the tails' sizes are too.
class BatchDealer {
 public:
  // Looks at every sample's bucket when there are several. Throws Error(usage) when no batch would be left.
  BatchDealer(const SampleSource& source, const DealingOptions& options);

  int64_t batches_per_epoch() const { return batches_per_epoch_; }
  int64_t samples_per_epoch() const { return samples_per_epoch_; }
  int64_t batch_samples() const { return batch_samples_; }  // of the largest batch

  void start_epoch(int64_t epoch);
  // Puts the next batch's samples into `samples` and returns their bucket; after the last batch comes the next epoch.
  // Never allocates when `samples` has room for batch_samples().
  int64_t deal(std::vector<int64_t>& samples);

 private:
  int64_t hand_out(size_t bucket, std::vector<int64_t>& samples);

  const SampleSource& source_;
  DealingOptions options_;
  int64_t batch_samples_ = 0, batches_per_epoch_ = 0, samples_per_epoch_ = 0;
  std::vector<std::vector<int64_t>> open_;  // for each bucket the samples of its unfinished batch
  EpochOrder order_;
  int64_t epoch_ = 0;
  int64_t position_ = 0;   // in the epoch's order
  size_t tail_bucket_ = 0;  // once all samples are dealt: the first bucket whose tail was not handed out
};

// How many samples each bucket has.
std::vector<int64_t> bucket_sizes(const SampleSource& source);

}  // namespace gpusizer
