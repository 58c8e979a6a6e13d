// SPDX-License-Identifier: Apache-2.0
// Made-up text: well formed, the same every time, of the frequencies it states, and learnable.
#include "workloads/data/synthetic_tokens.hpp"

#include <algorithm>
#include <cmath>

#include "workloads/data/tests/made_text.hpp"

namespace gpusizer {
namespace {

using made::caught;
using made::expect_says;

DataOptions small_text() {
  DataOptions options;
  options.kind = DataKind::text;
  options.text.sequence = 32;
  options.text.vocabulary = 100;
  return options;
}

TEST(SyntheticTokens, DefaultsAreThoseOfBert) {
  const auto source = open_synthetic_tokens({});
  EXPECT_EQ(source->facts().vocabulary, 30522);
  EXPECT_EQ(source->facts().sequence, 128);
  EXPECT_EQ(source->facts().predictions, 20);
  EXPECT_EQ(source->size(), 1'000'000);
  EXPECT_EQ(source->fields().size(), 6u);
}

TEST(SyntheticTokens, SamplesAreFullAndTheSameEveryTime) {
  const auto source = open_synthetic_tokens(small_text()), again = open_synthetic_tokens(small_text());
  DataOptions other = small_text();
  other.split = Split::test;
  const auto test = open_synthetic_tokens(other);
  int64_t follow = 0;
  for (int64_t index = 0; index < 1000; ++index) {
    const made::Values sample = made::read_text(*source, index, {5, 1, true});
    EXPECT_EQ(sample, made::read_text(*again, index, {5, 1, true}));
    EXPECT_NE(sample[0], made::read_text(*test, index, {5, 1, true})[0]);
    EXPECT_EQ(sample[2][0], 32);
    EXPECT_EQ(std::count(sample[0].begin(), sample[0].end(), 3), 2);
    for (const int32_t id : sample[0]) EXPECT_TRUE(id >= 2 && id < 100);
    EXPECT_EQ(std::count_if(sample[4].begin(), sample[4].end(), [](int32_t label) { return label >= 5; }), 4);
    follow += sample[5][0] == 0;
  }
  EXPECT_NEAR(static_cast<double>(follow), 500, 5 * std::sqrt(250.0));
  EXPECT_NE(made::read_text(*source, 1, {5, 1, true})[3], made::read_text(*source, 1, {5, 2, true})[3]);
}

TEST(SyntheticTokens, LengthsAreSpreadOverBuckets) {
  DataOptions options = small_text();
  options.text.buckets = {8, 16, 32};
  const auto source = open_synthetic_tokens(options);
  std::vector<int64_t> counts(3);
  for (int64_t index = 0; index < 2700; ++index) {
    const int64_t bucket = source->bucket_of(index);
    const int32_t length = made::read_text(*source, index)[2][0];
    EXPECT_LE(length, options.text.buckets[static_cast<size_t>(bucket)]);
    EXPECT_GT(length, bucket == 0 ? 4 : options.text.buckets[static_cast<size_t>(bucket) - 1]);
    ++counts[static_cast<size_t>(bucket)];
  }
  EXPECT_NEAR(static_cast<double>(counts[0]), 2700 * 4 / 28.0, 100);  // lengths 5 .. 32, of which 4 fit
  EXPECT_NEAR(static_cast<double>(counts[2]), 2700 * 16 / 28.0, 130);
}

TEST(SyntheticTokens, NeighboursTellMoreThanFrequencies) {
  DataOptions options = small_text();
  const auto train = open_synthetic_tokens(options);
  options.split = Split::test;
  const auto test = open_synthetic_tokens(options);
  const auto bars = test->baselines(*train);
  ASSERT_EQ(bars.size(), 1u);
  EXPECT_GT(bars[0].second, 3.5);
  EXPECT_LT(bars[0].second, std::log(95.0));
  int64_t partners = 0, pairs = 0;
  for (int64_t index = 0; index < 500; ++index) {
    const made::Values sample = made::read_text(*train, index);
    for (size_t i = 2; i < 14; ++i) {
      if (std::min(sample[0][i], sample[0][i - 1]) < 5) continue;  // masked
      ++pairs;
      partners += ((sample[0][i] - 5) ^ 1) == sample[0][i - 1] - 5;
    }
  }
  EXPECT_GT(partners, pairs * 2 / 5);
}

TEST(SyntheticTokens, LabelledTextsCarryTheirClass) {
  DataOptions options = small_text();
  options.text.head = "classification";
  options.classes = 3;
  const auto source = open_synthetic_tokens(options);
  EXPECT_EQ(source->facts().classes, 3);
  EXPECT_EQ(source->facts().predictions, 0);
  ASSERT_EQ(source->fields().size(), 4u);
  for (int64_t index = 0; index < 9; ++index) {
    const made::Values sample = made::read_text(*source, index);
    EXPECT_EQ(sample[3][0], index % 3);
    EXPECT_EQ(sample[0][1], 5 + index % 3);
    EXPECT_EQ(sample[0][5], 5 + index % 3);
  }
}

TEST(SyntheticTokens, RefusesSizesThatCannotBe) {
  DataOptions options = small_text();
  options.text.vocabulary = 10;
  expect_says(caught([&] { open_synthetic_tokens(options); }), Fault::usage, {"10 tokens", "21 to"});
  options = small_text();
  options.synthetic_samples = -1;
  expect_says(caught([&] { open_synthetic_tokens(options); }), Fault::usage, {"-1 samples"});
}

}  // namespace
}  // namespace gpusizer
