// SPDX-License-Identifier: Apache-2.0
// Collectives: every element is added in ascending order of the ranks, whatever the sizes and the shares.
#include "workloads/backend/communicator/collectives.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "workloads/backend/communicator/tests/thread_ranks.hpp"

namespace gpusizer {
namespace {

using testing::patient;
using testing::run_ranks;
using testing::Sentences;

// Values whose sum depends on the order of the addends.
float value_of(int rank, size_t tensor, size_t element) {
  return std::ldexp(1.0F + static_cast<float>((element * 37 + tensor * 11) % 101) / 128, (rank * 13) % 29) *
         (rank % 2 == 0 ? 1.0F : -1.0F);
}

float sum_of(std::span<const int32_t> ranks, size_t tensor, size_t element) {
  float sum = value_of(ranks[0], tensor, element);
  for (const int32_t rank : ranks.subspan(1)) sum += value_of(rank, tensor, element);
  return sum;
}

struct Bucket {
  explicit Bucket(std::span<const size_t> sizes, int rank, bool in_place) {
    for (size_t t = 0; t < sizes.size(); ++t) {
      addends.emplace_back(sizes[t]);
      for (size_t i = 0; i < sizes[t]; ++i) addends[t][i] = value_of(rank, t, i);
      sums.emplace_back(in_place ? 0 : sizes[t]);
      tensors.push_back({addends[t].data(), in_place ? addends[t].data() : sums[t].data(), sizes[t], Element::f32});
      bytes.push_back(sizes[t] * sizeof(float));
    }
  }
  std::vector<std::vector<float>> addends, sums;
  std::vector<Summand> tensors;
  std::vector<size_t> bytes;
};

void expect_sums(const Bucket& bucket, std::span<const int32_t> ranks) {
  for (size_t t = 0; t < bucket.tensors.size(); ++t)
    for (size_t i = 0; i < bucket.tensors[t].elements; ++i)
      ASSERT_EQ(static_cast<const float*>(bucket.tensors[t].sum)[i], sum_of(ranks, t, i)) << t << ", " << i;
}

struct Case {
  int ranks;
  std::vector<size_t> sizes;
  bool in_place;
};

class AllReduce : public ::testing::TestWithParam<Case> {};

TEST_P(AllReduce, AddsInAscendingOrderOnAllRanks) {
  const auto& [size, sizes, in_place] = GetParam();
  std::vector<int32_t> ranks(static_cast<size_t>(size));
  for (int r = 0; r < size; ++r) ranks[static_cast<size_t>(r)] = r;
  const auto sentences = run_ranks(size, patient, [&](Communicator& own) {
    Bucket bucket(sizes, own.rank(), in_place);
    std::vector<std::byte> staging(all_reduce_staging_bytes(bucket.bytes, ranks.size()));
    CollectiveRun run = all_reduce(own, ranks, bucket.tensors, staging);
    run.run();
    expect_sums(bucket, ranks);
    if (!in_place) {
      run.run();  // planned once, run again
      expect_sums(bucket, ranks);
    }
  });
  EXPECT_EQ(sentences, Sentences(ranks.size()));
}

INSTANTIATE_TEST_SUITE_P(Sizes, AllReduce,
                         ::testing::Values(Case{1, {5}, false}, Case{2, {1}, true}, Case{2, {0, 3, 0}, false},
                                           Case{2, {5000, 1, 7, 100003}, false}, Case{3, {5000, 1, 7, 100003}, true},
                                           Case{4, {1, 1, 1, 4093}, false}, Case{4, {1, 1, 1, 4094}, true},
                                           Case{5, {17, 16, 9000, 0, 15}, false}));

TEST(Collectives, DoublesAreAddedAsDoubles) {
  const std::vector<int32_t> ranks{0, 1};
  const auto sentences = run_ranks(2, patient, [&](Communicator& own) {
    for (const size_t count : {3, 5000}) {
      std::vector<double> values(count, own.rank() == 0 ? 1.0 : 1e-12);
      const std::vector<size_t> bytes{count * sizeof(double)};
      std::vector<std::byte> staging(all_reduce_staging_bytes(bytes, 2));
      const Summand tensor{values.data(), values.data(), count, Element::f64};
      all_reduce(own, ranks, std::span(&tensor, 1), staging).run();
      EXPECT_EQ(values, std::vector<double>(count, 1.0 + 1e-12));
    }
  });
  EXPECT_EQ(sentences, (Sentences{"", ""}));
}

TEST(Collectives, PartOfTheWorldReducesWhileTheOthersDoTheSame) {
  const auto sentences = run_ranks(4, patient, [&](Communicator& own) {
    const std::vector<int32_t> ranks{own.rank() % 2, own.rank() % 2 + 2};
    const std::vector<size_t> sizes{20000};
    Bucket bucket(sizes, own.rank(), false);
    std::vector<std::byte> staging(all_reduce_staging_bytes(bucket.bytes, 2));
    all_reduce(own, ranks, bucket.tensors, staging).run();
    expect_sums(bucket, ranks);
  });
  EXPECT_EQ(sentences, Sentences(4));
}

TEST(Collectives, OwnersGetTheSumsAndGiveThemBack) {
  const std::vector<int32_t> ranks{0, 1, 2}, owners{2, 0, 2, 1};
  const auto sentences = run_ranks(3, patient, [&](Communicator& own) {
    const std::vector<size_t> sizes{10, 4000, 0, 33};
    Bucket bucket(sizes, own.rank(), false);
    for (size_t t = 0; t < owners.size(); ++t)
      if (owners[t] != own.rank()) bucket.tensors[t].sum = nullptr;
    std::vector<std::byte> staging(reduce_to_owners_staging_bytes(bucket.bytes, owners, own.rank(), 3));
    CollectiveRun reduction = reduce_to_owners(own, ranks, owners, bucket.tensors, staging);
    reduction.run();
    std::vector<std::span<std::byte>> tensors;
    for (auto& sum : bucket.sums) tensors.push_back(std::as_writable_bytes(std::span(sum)));
    broadcast_from_owners(own, ranks, owners, tensors).run();
    for (size_t t = 0; t < sizes.size(); ++t) bucket.tensors[t].sum = bucket.sums[t].data();
    expect_sums(bucket, ranks);
  });
  EXPECT_EQ(sentences, Sentences(3));
}

TEST(Collectives, EverybodyGathersWhatEachHas) {
  const std::vector<int32_t> ranks{0, 1, 2};
  const auto sentences = run_ranks(3, patient, [&](Communicator& own) {
    const std::vector<int> mine{own.rank(), own.rank() * 10};
    std::vector<int> all(6, -1);
    all_gather(own, ranks, std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all))).run();
    EXPECT_EQ(all, (std::vector<int>{0, 0, 1, 10, 2, 20}));
  });
  EXPECT_EQ(sentences, Sentences(3));
}

TEST(Collectives, ARankSendsTwoNthsOfTheBytesToEachOther) {
  const std::vector<int32_t> ranks{0, 1, 2, 3};
  run_ranks(4, patient, [&](Communicator& own) {
    const std::vector<size_t> sizes{64 * 1024};
    Bucket bucket(sizes, own.rank(), false);
    std::vector<std::byte> staging(all_reduce_staging_bytes(bucket.bytes, 4));
    EXPECT_EQ(staging.size(), 3 * 64 * 1024);  // what the other three add to a quarter
    EXPECT_EQ(all_reduce(own, ranks, bucket.tensors, staging).bytes_sent(), 6 * 64 * 1024);
    EXPECT_EQ(all_reduce(own, ranks, bucket.tensors, staging).messages_sent(), 6);
  });
}

TEST(Collectives, NobodyHasToWait) {
  ThreadGroup group(2, patient);
  const auto zero = group.join(0), one = group.join(1);
  const std::vector<int32_t> ranks{0, 1};
  const std::vector<size_t> sizes{10000};
  Bucket a(sizes, 0, false), b(sizes, 1, false);
  std::vector<std::byte> staging_a(all_reduce_staging_bytes(a.bytes, 2)), staging_b(staging_a.size());
  CollectiveRun first = all_reduce(*zero, ranks, a.tensors, staging_a);
  CollectiveRun second = all_reduce(*one, ranks, b.tensors, staging_b);
  EXPECT_TRUE(first.advance());  // nothing was begun
  first.start();
  EXPECT_FALSE(first.advance());
  EXPECT_THROW(first.start(), Error);
  second.start();
  bool first_done = false, second_done = false;
  for (int turns = 0; turns < 10 && !(first_done && second_done); ++turns) {
    first_done = first.advance();
    second_done = second.advance();
  }
  EXPECT_TRUE(first_done && second_done);
  expect_sums(a, ranks);
  expect_sums(b, ranks);
}

TEST(Collectives, WhatCannotBePlannedIsRefused) {
  ThreadGroup group(3, 1);
  const auto own = group.join(1);
  const std::vector<size_t> sizes{10000};
  Bucket bucket(sizes, 1, false);
  std::vector<std::byte> staging(all_reduce_staging_bytes(bucket.bytes, 3));
  const auto plan = [&](std::vector<int32_t> ranks, std::span<std::byte> bytes) {
    all_reduce(*own, ranks, bucket.tensors, bytes);
  };
  EXPECT_NO_THROW(plan({0, 1, 2}, staging));
  EXPECT_THROW(plan({0, 2}, staging), Error);
  EXPECT_THROW(plan({1, 0}, staging), Error);
  EXPECT_THROW(plan({0, 1, 1}, staging), Error);
  EXPECT_THROW(plan({0, 1, 3}, staging), Error);
  EXPECT_THROW(plan({0, 1, 2}, std::span(staging).first(staging.size() - 1)), Error);
  const std::vector<int32_t> ranks{0, 1}, stranger{2}, too_many{0, 1};
  EXPECT_THROW(reduce_to_owners(*own, ranks, stranger, bucket.tensors, staging), Error);
  EXPECT_THROW(reduce_to_owners(*own, ranks, too_many, bucket.tensors, staging), Error);
  EXPECT_THROW(all_gather(*own, ranks, std::span(staging).first(8), std::span(staging).first(24)), Error);
}

}  // namespace
}  // namespace gpusizer
