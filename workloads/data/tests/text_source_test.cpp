// SPDX-License-Identifier: Apache-2.0
// Text as samples: fields, splits, buckets, masks by epoch, the bar of word frequencies, and what is refused.
#include "workloads/data/text_source.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "workloads/data/data_sources.hpp"
#include "workloads/data/tests/made_text.hpp"
#include "workloads/data/text_shape.hpp"

namespace gpusizer {
namespace {

enum FieldIndex : size_t { input_ids, token_types, lengths, positions, labels, next };

class TextSourceTest : public ::testing::Test {
 protected:
  TextSourceTest() {
    options_.kind = DataKind::text;
    options_.text.sequence = 64;
    options_.text.vocabulary = 300;
  }

  std::unique_ptr<SampleSource> open(const std::string& text, Split split = Split::train) {
    options_.split = split;
    return open_text(folder_.write("text.txt", made::bytes_of(text)).string(), options_);
  }

  Fault fault_of(const std::string& text) {
    try {
      open(text);
    } catch (const Error& error) {
      return error.fault();
    }
    ADD_FAILURE() << "no error";
    return Fault::failed;
  }

  made::TempFolder folder_;
  DataOptions options_;
};

TEST_F(TextSourceTest, TellsWhatItIs) {
  const auto source = open(made::text(1000, 12, 0));
  const SourceFacts& facts = source->facts();
  EXPECT_EQ(facts.name, "text");
  EXPECT_EQ(facts.sequence, 64);
  EXPECT_EQ(facts.predictions, 10);
  EXPECT_GT(facts.vocabulary, 100);
  EXPECT_LE(facts.vocabulary, 300);
  EXPECT_TRUE(facts.bucket_lengths.empty());
  ASSERT_EQ(source->fields().size(), 6u);
  EXPECT_EQ(source->fields()[input_ids], (Field{"input_ids", ValueType::i32, {64}}));
  EXPECT_EQ(source->fields()[positions], (Field{"mlm_positions", ValueType::i32, {10}}));
  EXPECT_EQ(source->fields()[next], (Field{"nsp_labels", ValueType::i32, {}}));
}

TEST_F(TextSourceTest, SamplesAreWellFormed) {
  const auto source = open(made::text(1000, 12, 0));
  for (int64_t index = 0; index < source->size(); ++index) {
    const made::Values sample = made::read_text(*source, index);
    const auto length = static_cast<size_t>(sample[lengths][0]);
    ASSERT_LE(length, 64u);
    EXPECT_EQ(sample[input_ids][0], 2);
    EXPECT_EQ(sample[input_ids][length - 1], 3);
    EXPECT_EQ(std::count(sample[input_ids].begin(), sample[input_ids].end(), 3), 2);
    const auto separator = std::find(sample[input_ids].begin(), sample[input_ids].end(), 3) - sample[input_ids].begin();
    for (int64_t i = 0; i < 64; ++i) {
      const auto at = static_cast<size_t>(i);
      EXPECT_EQ(sample[token_types][at], i > separator && at < length ? 1 : 0);
      EXPECT_EQ(sample[input_ids][at] == 0, at >= length);
    }
    for (size_t slot = 0; slot < 10; ++slot) {
      EXPECT_LT(sample[labels][slot], source->facts().vocabulary);
      if (sample[labels][slot] >= 0) {
        EXPECT_LT(static_cast<size_t>(sample[positions][slot]), length);
      }
    }
    EXPECT_TRUE(sample[next][0] == 0 || sample[next][0] == 1);
  }
}

TEST_F(TextSourceTest, MasksDependOnSeedEpochAndIndex) {
  const auto source = open(made::text(1000, 12, 0));
  const auto positions_of = [&](SampleContext context) { return made::read_text(*source, 3, context)[positions]; };
  EXPECT_EQ(positions_of({1, 2, true}), positions_of({1, 2, true}));
  EXPECT_NE(positions_of({1, 2, true}), positions_of({1, 3, true}));
  EXPECT_NE(positions_of({1, 2, true}), positions_of({2, 2, true}));
  EXPECT_EQ(positions_of({1, 2, false}), positions_of({1, 3, false}));  // evaluation: always the same
  EXPECT_EQ(positions_of({1, 0, true}), positions_of({1, 3, false}));
}

TEST_F(TextSourceTest, SplitsAreDisjointAndTheSameVocabulary) {
  std::string text;
  for (int line = 0; line < 400; ++line) {  // each line has a word of its own, three letters by its number
    const std::string word{static_cast<char>('a' + line / 100), static_cast<char>('a' + line / 10 % 10),
                           static_cast<char>('a' + line % 10)};
    text += word + " is here and here and here\n";
  }
  options_.text.vocabulary_file = folder_
                                      .write("vocab.txt",
                                             [&] {
                                               std::string tokens =
                                                   "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nis\nhere\nand\n";
                                               for (int line = 0; line < 400; ++line)
                                                 tokens += text.substr(static_cast<size_t>(line) * 30, 3) + "\n";
                                               return made::bytes_of(tokens);
                                             }())
                                      .string();
  options_.text.vocabulary = 0;
  const auto words = [&](Split split) {
    const auto source = open(text, split);
    std::set<int32_t> found;
    for (int64_t index = 0; index < source->size(); ++index) {
      made::Values sample = made::read_text(*source, index);
      for (size_t slot = 0; slot < sample[labels].size(); ++slot) {  // undo the masks
        if (sample[labels][slot] >= 0)
          sample[input_ids][static_cast<size_t>(sample[positions][slot])] = sample[labels][slot];
      }
      for (const int32_t id : sample[input_ids]) {
        if (id >= 8) found.insert(id);
      }
    }
    return found;
  };
  const std::set<int32_t> train = words(Split::train), test = words(Split::test);
  EXPECT_GT(train.size(), 300u);
  EXPECT_GE(test.size(), 15u);
  for (const int32_t id : test) EXPECT_EQ(train.count(id), 0u);
}

TEST_F(TextSourceTest, BucketsHoldTheNaturalLength) {
  options_.text.sequence = 0;
  options_.text.buckets = {16, 32, 64};
  std::string text;
  for (int words = 2; words < 40; ++words) text += made::text(20, words, 0, static_cast<uint64_t>(words));
  const auto source = open(text);
  EXPECT_EQ(source->buckets(), 3);
  EXPECT_EQ(source->facts().sequence, 64);
  EXPECT_EQ(source->facts().bucket_lengths, options_.text.buckets);
  EXPECT_EQ(source->fields(0)[positions].shape, std::vector<int64_t>{3});
  EXPECT_EQ(source->fields(1)[input_ids].shape, std::vector<int64_t>{32});
  std::set<int64_t> used;
  for (int64_t index = 0; index < source->size(); ++index) {
    const int64_t bucket = source->bucket_of(index);
    const int32_t length = made::read_text(*source, index)[lengths][0];
    used.insert(bucket);
    EXPECT_LE(length, options_.text.buckets[static_cast<size_t>(bucket)]);
    if (bucket > 0) {
      EXPECT_GT(length, options_.text.buckets[static_cast<size_t>(bucket) - 1]);
    }
  }
  EXPECT_EQ(used.size(), 3u);
}

TEST_F(TextSourceTest, WordFrequenciesAreTheBar) {
  const std::string text = made::text(3000, 12, 0);
  const auto train = open(text);
  const auto test = open(text, Split::test);
  const auto bars = test->baselines(*train);
  ASSERT_EQ(bars.size(), 1u);
  EXPECT_EQ(bars[0].first, "unigram_entropy_nats");
  // The words are drawn independently; the entropy of their distribution is below that of 200 equal ones.
  EXPECT_GT(bars[0].second, 4.0);
  EXPECT_LT(bars[0].second, std::log(200.0));
  options_.text.vocabulary = 100;
  EXPECT_TRUE(test->baselines(*open(text)).empty());  // another vocabulary: not comparable
}

TEST_F(TextSourceTest, IsFoundByItsNameAndItsFiles) {
  const std::string file = folder_.write("in/text.txt", made::bytes_of(made::text(200, 12, 0))).string();
  EXPECT_EQ(open_data_source("text:" + file, options_)->name(), "text");
  EXPECT_EQ(open_data_source(file, options_)->name(), "text");
  EXPECT_EQ(open_data_source(folder_.text() + "/in", options_)->name(), "text");
  const std::string table = folder_.write("t.tsv", made::bytes_of("text\tlabel\na\t0\nb\t1\n")).string();
  EXPECT_EQ(open_data_source(table, options_)->name(), "tsv");
  EXPECT_EQ(open_data_source("synthetic", options_)->facts().sequence, 64);
}

TEST(UnigramEntropy, WorkedExample) {
  const std::vector<int64_t> training = {2, 0, 0}, held_out = {3, 1, 0};  // shares 3/5, 1/5, 1/5
  EXPECT_NEAR(unigram_entropy_nats(training, held_out), -(3 * std::log(0.6) + std::log(0.2)) / 4, 1e-12);
}

TEST_F(TextSourceTest, WhatCannotBeIsRefused) {
  EXPECT_EQ(fault_of("one line only"), Fault::input);
  EXPECT_EQ(fault_of("a\nb\n"), Fault::input);  // no pair in it
  const std::string text = made::text(1000, 12, 0);
  options_.text.sequence = 4;
  EXPECT_EQ(fault_of(text), Fault::usage);
  options_.text.sequence = 64;
  options_.text.predictions = 62;
  EXPECT_EQ(fault_of(text), Fault::usage);
  options_.text.predictions = 0;
  options_.text.buckets = {32, 16};
  EXPECT_EQ(fault_of(text), Fault::usage);
  options_.text.buckets = {16, 32};  // and a sequence of 64
  EXPECT_EQ(fault_of(text), Fault::usage);
  options_.text.buckets = {};
  options_.text.vocabulary_file =
      folder_.write("vocab.txt", made::bytes_of("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nno\n")).string();
  EXPECT_EQ(fault_of(text), Fault::input);  // knows no word of it
}

TEST(TextShape, ShorterBucketsGetTheirShareOfPredictions) {
  TextOptions options;
  options.buckets = {32, 128};
  EXPECT_EQ(text_shape(options, "x").predictions, (std::vector<int64_t>{5, 20}));
  options.predictions = 40;
  EXPECT_EQ(text_shape(options, "x").predictions, (std::vector<int64_t>{10, 40}));
  EXPECT_EQ(text_shape(options, "x").bucket_for(32), 0);
  EXPECT_EQ(text_shape(options, "x").bucket_for(33), 1);
  EXPECT_EQ(text_shape({}, "x").lengths, std::vector<int64_t>{128});
}

}  // namespace
}  // namespace gpusizer
