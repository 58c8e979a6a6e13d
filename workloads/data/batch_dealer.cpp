// SPDX-License-Identifier: Apache-2.0
// Counts the buckets once, then deals.
#include "workloads/data/batch_dealer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gpusizer/error.hpp"

namespace gpusizer {

std::vector<int64_t> bucket_sizes(const SampleSource& source) {
  if (source.buckets() == 1) return {source.size()};
  std::vector<int64_t> sizes(static_cast<size_t>(source.buckets()));
  for (int64_t sample = 0; sample < source.size(); ++sample) ++sizes[static_cast<size_t>(source.bucket_of(sample))];
  return sizes;
}

int64_t part_samples(int64_t samples, const Sharing& share) {
  return samples / share.replicas + (share.replica < samples % share.replicas ? 1 : 0);
}

namespace {

// Of a part in its batch: earlier parts are never smaller.
int64_t part_begin(int64_t samples, const Sharing& share) {
  return share.replica * (samples / share.replicas) + std::min(share.replica, samples % share.replicas);
}

bool is_left_out(int64_t samples, const Sharing& share) { return !share.in_turn && samples < share.replicas; }

}  // namespace

BatchDealer::BatchDealer(const SampleSource& source, const DealingOptions& options)
    : source_(source), options_(options), order_(options.seed, 0, source.size()) {
  for (const int64_t samples : bucket_sizes(source)) {
    const int64_t full = samples / options.batch, rest = options.drop_last ? 0 : samples % options.batch;
    const int64_t tail = is_left_out(rest, options.share) ? 0 : rest;
    batches_per_epoch_ += full + (tail > 0 ? 1 : 0);
    samples_per_epoch_ += full * options.batch + tail;
    const int64_t largest = std::min(samples, options.batch);
    batch_samples_ = std::max(batch_samples_, options.share.in_turn ? largest : part_samples(largest, options.share));
  }
  if (batches_per_epoch_ == 0) {
    const char* what = source.buckets() == 1 ? "the {} samples are fewer than a batch of {}"
                                             : "none of the buckets of the {} samples fills a batch of {}";
    throw Error(Fault::usage, "no batch is left: " + fmt::format(fmt::runtime(what), source.size(), options.batch),
                source.name(), "use a smaller batch or keep the last one");
  }
  if (options.share.in_turn) batches_per_epoch_ = part_samples(batches_per_epoch_, options.share);
  open_.resize(static_cast<size_t>(source.buckets()));
}

void BatchDealer::start_epoch(int64_t epoch) {
  epoch_ = epoch;
  position_ = 0;
  tail_bucket_ = 0;
  turn_ = 0;
  order_ = EpochOrder(options_.seed, epoch, source_.size());
  for (std::vector<int64_t>& samples : open_) {
    samples.reserve(static_cast<size_t>(std::min(options_.batch, source_.size())));
    samples.clear();
  }
}

// False where this replica has nothing of the batch.
bool BatchDealer::hand_out(size_t bucket, std::vector<int64_t>& samples) {
  const Sharing& share = options_.share;
  std::vector<int64_t>& whole = open_[bucket];
  whole_samples_ = static_cast<int64_t>(whole.size());
  const bool mine = share.in_turn ? turn_++ % share.replicas == share.replica : !is_left_out(whole_samples_, share);
  const auto begin = whole.begin() + (share.in_turn ? 0 : part_begin(whole_samples_, share));
  const auto count = share.in_turn ? whole_samples_ : part_samples(whole_samples_, share);
  if (mine) samples.assign(begin, begin + count);
  whole.clear();
  return mine;
}

int64_t BatchDealer::deal(std::vector<int64_t>& samples) {
  while (true) {
    while (position_ < source_.size()) {
      const int64_t sample = options_.shuffle ? order_.sample_at(position_) : position_;
      ++position_;
      const auto bucket = static_cast<size_t>(source_.bucket_of(sample));
      open_[bucket].push_back(sample);
      if (static_cast<int64_t>(open_[bucket].size()) == options_.batch && hand_out(bucket, samples))
        return static_cast<int64_t>(bucket);
    }
    while (!options_.drop_last && tail_bucket_ < open_.size())
      if (const size_t bucket = tail_bucket_++; !open_[bucket].empty() && hand_out(bucket, samples))
        return static_cast<int64_t>(bucket);
    start_epoch(epoch_ + 1);
  }
}

}  // namespace gpusizer
