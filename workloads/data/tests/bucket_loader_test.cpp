// SPDX-License-Identifier: Apache-2.0
// Samples in buckets: how an epoch is dealt into batches, and what the loader makes of them.
#include <algorithm>
#include <map>
#include <set>

#include "workloads/data/batch_dealer.hpp"
#include "workloads/data/loader.hpp"
#include "workloads/data/tests/made_files.hpp"

namespace gpusizer {
namespace {

using made::caught;
using made::expect_says;

// Sample i has the index i and 1, 2 or 4 tokens, all of them i; its bucket is i % 3.
class WordSource final : public SampleSource {
 public:
  explicit WordSource(int64_t count) : SampleSource({.name = "words", .size = count}, buckets_of_words()) {}

 private:
  static std::vector<std::vector<Field>> buckets_of_words() {
    std::vector<std::vector<Field>> buckets;
    for (const int64_t length : {1, 2, 4})
      buckets.push_back({{"tokens", ValueType::i32, {length}}, {"weight", ValueType::f32, {}}});
    return buckets;
  }
  int64_t sample_bucket(int64_t index) const override { return index % 3; }
  void read_sample(int64_t index, const SampleContext&, std::span<void* const> values) const override {
    std::fill_n(static_cast<int32_t*>(values[0]), int64_t{1} << (index % 3), static_cast<int32_t>(index));
    *static_cast<float*>(values[1]) = static_cast<float>(index) / 2;
  }
};

std::vector<std::vector<int64_t>> deal_all(BatchDealer& dealer) {
  std::vector<std::vector<int64_t>> batches(static_cast<size_t>(dealer.batches_per_epoch()));
  for (auto& samples : batches) dealer.deal(samples);
  return batches;
}

TEST(BatchDealer, DealsInOrderOfArrivalAndTheTailsLast) {
  const WordSource source(11);  // 4, 4 and 3 samples
  EXPECT_EQ(bucket_sizes(source), (std::vector<int64_t>{4, 4, 3}));
  BatchDealer dealer(source, {.batch = 3});
  EXPECT_EQ(dealer.batches_per_epoch(), 5);
  EXPECT_EQ(dealer.samples_per_epoch(), 11);
  dealer.start_epoch(0);
  const std::vector<std::vector<int64_t>> expected{{0, 3, 6}, {1, 4, 7}, {2, 5, 8}, {9}, {10}};
  EXPECT_EQ(deal_all(dealer), expected);
  EXPECT_EQ(deal_all(dealer), expected);  // the next epoch
}

TEST(BatchDealer, DropsEveryTail) {
  const WordSource source(11);
  BatchDealer dealer(source, {.batch = 4, .drop_last = true});
  EXPECT_EQ(dealer.batches_per_epoch(), 2);
  EXPECT_EQ(dealer.samples_per_epoch(), 8);
  dealer.start_epoch(3);
  for (int epoch = 0; epoch < 2; ++epoch)
    EXPECT_EQ(deal_all(dealer), (std::vector<std::vector<int64_t>>{{0, 3, 6, 9}, {1, 4, 7, 10}}));
  expect_says(caught([&] { BatchDealer none(source, {.batch = 5, .drop_last = true}); }), Fault::usage,
              {"none of the buckets", "11 samples", "batch of 5"});
}

TEST(BatchDealer, EachReplicaGetsItsPartOfEveryBatch) {
  const WordSource source(11);  // tails of 1, 1 and 0 samples for batches of 3
  const std::vector<std::vector<int64_t>> first{{0, 3}, {1, 4}, {2, 5}}, second{{6}, {7}, {8}};
  for (const int64_t replica : {0, 1}) {
    BatchDealer dealer(source, {.batch = 3, .share = {replica, 2}});
    EXPECT_EQ(dealer.batches_per_epoch(), 3);  // a tail of one sample is too small for two
    EXPECT_EQ(dealer.samples_per_epoch(), 9);
    EXPECT_EQ(dealer.batch_samples(), replica == 0 ? 2 : 1);
    dealer.start_epoch(0);
    EXPECT_EQ(deal_all(dealer), replica == 0 ? first : second);
    EXPECT_EQ(dealer.whole_samples(), 3);
    EXPECT_EQ(deal_all(dealer), replica == 0 ? first : second);
  }
}

TEST(BatchDealer, DealsWholeBatchesInTurn) {
  const WordSource source(11);
  const std::vector<std::vector<int64_t>> parts[] = {{{0, 3, 6}, {9}}, {{1, 4, 7}, {10}}, {{2, 5, 8}}, {}};
  std::size_t samples = 0;
  for (const int64_t replica : {0, 1, 2}) {
    BatchDealer dealer(source, {.batch = 3, .share = {replica, 3, true}});
    dealer.start_epoch(0);
    EXPECT_EQ(deal_all(dealer), parts[replica]);
    EXPECT_EQ(deal_all(dealer), parts[replica]);
    for (const auto& batch : parts[replica]) samples += batch.size();
  }
  EXPECT_EQ(samples, 11u);
  EXPECT_EQ(BatchDealer(source, {.batch = 3, .share = {5, 6, true}}).batches_per_epoch(), 0);
}

TEST(Loader, TheReplicasTogetherReadWhatOneWouldRead) {
  const WordSource source(60);
  const auto read = [&](Sharing share) {
    std::vector<std::vector<int32_t>> batches;
    Loader loader(source, {.batch = 8, .shuffle = true, .seed = 3, .share = share});
    loader.start_epoch(2);
    while (const auto batch = loader.next()) {
      const auto weights = batch->values<float>(1);
      EXPECT_EQ(batch->whole_samples, batches.size() < 6 ? 8 : 4);
      auto& indices = batches.emplace_back();
      for (const float weight : weights) indices.push_back(static_cast<int32_t>(2 * weight));
    }
    return batches;
  };
  const auto whole = read({}), first = read({0, 2}), second = read({1, 2});
  ASSERT_EQ(first.size(), whole.size());
  for (std::size_t i = 0; i < whole.size(); ++i) {
    auto together = first[i];
    together.insert(together.end(), second[i].begin(), second[i].end());
    EXPECT_EQ(together, whole[i]);
  }
}

TEST(BatchDealer, AllowsABucketWithoutSamples) {
  const WordSource source(2);
  BatchDealer dealer(source, {.batch = 8});
  dealer.start_epoch(0);
  EXPECT_EQ(dealer.batch_samples(), 1);
  EXPECT_EQ(deal_all(dealer), (std::vector<std::vector<int64_t>>{{0}, {1}}));
}

// A run that goes on begins where it stood: at any batch, across the ends of epochs, in whatever bucket.
TEST(BucketLoader, StartsAtAnyBatchOfAnEpoch) {
  const WordSource source(11);
  Loader loader(source, {.batch = 3, .threads = 2, .shuffle = true, .seed = 7, .endless = true});
  const auto indices_and_epochs = [&](int64_t batches) {
    std::vector<int32_t> seen;
    for (int64_t i = 0; i < batches; ++i) {
      const auto batch = loader.next();
      for (int64_t sample = 0; sample < batch->samples; ++sample)
        seen.push_back(static_cast<int32_t>(2 * batch->values<float>(1)[static_cast<size_t>(sample)]));
      seen.push_back(-static_cast<int32_t>(2 * batch->epoch + (batch->ends_epoch ? 1 : 0)));
    }
    return seen;
  };
  for (int64_t first = 0; first < 10; ++first) {
    loader.start_epoch(0);
    indices_and_epochs(first);
    const auto expected = indices_and_epochs(12);
    loader.start_epoch(first / 5, first % 5);
    EXPECT_EQ(indices_and_epochs(12), expected) << first;
  }
  expect_says(caught([&] { loader.start_epoch(0, 5); }), Fault::usage, {"first batch", "5"});
}

TEST(BucketLoader, GivesEverySampleOnceWithItsBucketsShape) {
  const WordSource source(100);  // 34, 33 and 33 samples
  Loader loader(source, {.batch = 8, .threads = 3, .prefetch_batches = 4, .shuffle = true, .seed = 5, .endless = true});
  ASSERT_EQ(loader.batches_per_epoch(), 15);
  loader.start_epoch(0);
  for (int64_t epoch = 0; epoch < 3; ++epoch) {
    std::set<int32_t> seen;
    std::map<int64_t, std::multiset<int64_t>> sizes;
    for (int64_t i = 0; i < 15; ++i) {
      const Batch batch = *loader.next();
      EXPECT_EQ(batch.epoch, epoch);
      EXPECT_EQ(batch.ends_epoch, i == 14);
      EXPECT_EQ(batch.fields[0].shape, (std::vector<int64_t>{int64_t{1} << batch.bucket}));
      sizes[batch.bucket].insert(batch.samples);
      const auto tokens = batch.values<int32_t>(0);
      for (size_t sample = 0; sample < static_cast<size_t>(batch.samples); ++sample) {
        const int32_t index = tokens[sample << batch.bucket];
        EXPECT_EQ(index % 3, batch.bucket);
        EXPECT_EQ(tokens[((sample + 1) << batch.bucket) - 1], index);
        EXPECT_EQ(batch.values<float>(1)[sample], static_cast<float>(index) / 2);
        EXPECT_TRUE(seen.insert(index).second);
      }
    }
    EXPECT_EQ(seen.size(), 100U);
    EXPECT_EQ(sizes[0], (std::multiset<int64_t>{2, 8, 8, 8, 8}));
    EXPECT_EQ(sizes[2], (std::multiset<int64_t>{1, 8, 8, 8, 8}));
  }
}

TEST(BucketLoader, DoesNotDependOnThreads) {
  const WordSource source(100);
  const auto run = [&](int64_t threads) {
    Loader loader(source, {.batch = 8, .threads = threads, .shuffle = true, .seed = 5, .endless = true});
    loader.start_epoch(1);
    std::vector<int32_t> tokens;
    for (int i = 0; i < 30; ++i) {
      const Batch batch = *loader.next();
      tokens.insert(tokens.end(), batch.values<int32_t>(0).begin(), batch.values<int32_t>(0).end());
    }
    return tokens;
  };
  EXPECT_EQ(run(1), run(4));
}

}  // namespace
}  // namespace gpusizer
