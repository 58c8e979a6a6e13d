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

BatchDealer::BatchDealer(const SampleSource& source, const DealingOptions& options)
    : source_(source), options_(options), order_(options.seed, 0, source.size()) {
  for (const int64_t samples : bucket_sizes(source)) {
    const int64_t full = samples / options.batch, tail = options.drop_last ? 0 : samples % options.batch;
    batches_per_epoch_ += full + (tail > 0 ? 1 : 0);
    samples_per_epoch_ += full * options.batch + tail;
    batch_samples_ = std::max(batch_samples_, std::min(samples, options.batch));
  }
  if (batches_per_epoch_ == 0) {
    const char* what = source.buckets() == 1 ? "the {} samples are fewer than a batch of {}"
                                             : "none of the buckets of the {} samples fills a batch of {}";
    throw Error(Fault::usage, "no batch is left: " + fmt::format(fmt::runtime(what), source.size(), options.batch),
                source.name(), "use a smaller batch or keep the last one");
  }
  open_.resize(static_cast<size_t>(source.buckets()));
}

void BatchDealer::start_epoch(int64_t epoch) {
  epoch_ = epoch;
  position_ = 0;
  tail_bucket_ = 0;
  order_ = EpochOrder(options_.seed, epoch, source_.size());
  for (std::vector<int64_t>& samples : open_) {
    samples.reserve(static_cast<size_t>(batch_samples_));
    samples.clear();
  }
}

int64_t BatchDealer::hand_out(size_t bucket, std::vector<int64_t>& samples) {
  samples.assign(open_[bucket].begin(), open_[bucket].end());
  open_[bucket].clear();
  return static_cast<int64_t>(bucket);
}

int64_t BatchDealer::deal(std::vector<int64_t>& samples) {
  while (true) {
    while (position_ < source_.size()) {
      const int64_t sample = options_.shuffle ? order_.sample_at(position_) : position_;
      ++position_;
      const auto bucket = static_cast<size_t>(source_.bucket_of(sample));
      open_[bucket].push_back(sample);
      if (static_cast<int64_t>(open_[bucket].size()) == options_.batch) return hand_out(bucket, samples);
    }
    while (!options_.drop_last && tail_bucket_ < open_.size())
      if (const size_t bucket = tail_bucket_++; !open_[bucket].empty()) return hand_out(bucket, samples);
    start_epoch(epoch_ + 1);
  }
}

}  // namespace gpusizer
