// SPDX-License-Identifier: Apache-2.0
// Reading, refusing and making vocabularies.
#include "workloads/data/vocabulary.hpp"

#include "workloads/data/tests/made_text.hpp"
#include "workloads/data/utf8.hpp"
#include "workloads/data/vocabulary_trainer.hpp"
#include "workloads/data/wordpiece.hpp"

namespace gpusizer {
namespace {

class VocabularyFile : public ::testing::Test {
 protected:
  Vocabulary read(const std::string& text) { return read_vocabulary(folder_.write("vocab.txt", made::bytes_of(text))); }

  std::string problem(const std::string& text) {
    try {
      read(text);
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::input);
      return error.what();
    }
    return "";
  }

  made::TempFolder folder_;
};

TEST_F(VocabularyFile, NumbersAreLines) {
  const Vocabulary vocabulary = read("\xef\xbb\xbf[PAD]\r\n[unused0]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\n##s");
  EXPECT_EQ(vocabulary.size(), 8);
  EXPECT_EQ(vocabulary.special(), (SpecialTokens{0, 2, 3, 4, 5}));
  EXPECT_EQ(vocabulary.find("the"), 6);
  EXPECT_EQ(vocabulary.find("##s"), 7);
  EXPECT_EQ(vocabulary.find("s"), std::nullopt);
  EXPECT_EQ(vocabulary.token(1), "[unused0]");
}

TEST_F(VocabularyFile, IsTheSameAfterWriting) {
  const Vocabulary vocabulary = made::vocabulary({"a", "##\u00e9", "\u535a"});
  write_vocabulary(vocabulary, folder_.path() / "out.txt");
  EXPECT_EQ(read_vocabulary(folder_.path() / "out.txt"), vocabulary);
  EXPECT_THROW(write_vocabulary(vocabulary, folder_.path() / "no/where.txt"), Error);
}

TEST_F(VocabularyFile, ErrorsNameTheLine) {
  const std::string special = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
  EXPECT_NE(problem(special + "a\nb\na\n").find("`a` is there twice, first in line 6"), std::string::npos);
  EXPECT_NE(problem(special + "a\nb\na\n").find("line 8"), std::string::npos);
  EXPECT_NE(problem(special + "a\n\nb\n").find("line 7"), std::string::npos);
  EXPECT_NE(problem(special + "a\n\xff\n").find("line 7"), std::string::npos);
  EXPECT_NE(problem("[PAD]\n[UNK]\n[CLS]\n[SEP]\na\n").find("[MASK]"), std::string::npos);
  EXPECT_NE(problem("").find("empty"), std::string::npos);
}

TEST_F(VocabularyFile, LargerThanTheModelIsRefused) {
  const auto file = folder_.path() / "small.txt";
  write_vocabulary(made::vocabulary({"a", "b"}), file);
  EXPECT_EQ(read_vocabulary(file, 7).size(), 7);
  EXPECT_EQ(read_vocabulary(file, 0).size(), 7);
  EXPECT_THROW(read_vocabulary(file, 6), Error);
}

TEST(VocabularyTrainer, MergesTheMostFrequentPairs) {
  VocabularyTrainer trainer;
  for (int i = 0; i < 10; ++i) trainer.add("low low low lower");
  for (int i = 0; i < 4; ++i) trainer.add("newest, wide");
  const Vocabulary vocabulary = trainer.train(32);
  // 40 times both l+##o and ##o+##w: the latter is first by its bytes. Then 10 times ##e+##r and low+##e, then 4 times
  // each: ##d+##e, ##e+##s.
  const std::vector<std::string> merged = {"##ow", "low", "##er", "lower", "##de", "##es"};
  const auto first = vocabulary.find("##ow");
  ASSERT_TRUE(first.has_value());
  for (size_t i = 0; i < merged.size(); ++i) EXPECT_EQ(vocabulary.token(*first + static_cast<int32_t>(i)), merged[i]);
  EXPECT_EQ(vocabulary.special(), (SpecialTokens{0, 1, 2, 3, 4}));
  EXPECT_EQ(vocabulary.token(5), "##d");  // characters in the order of their bytes
  EXPECT_TRUE(vocabulary.find(",").has_value());
}

TEST(VocabularyTrainer, EndsWhenNothingIsFrequent) {
  VocabularyTrainer trainer;
  trainer.add("aaaa b");
  const Vocabulary vocabulary = trainer.train(1000);
  EXPECT_EQ(vocabulary.size(), 5 + 3 + 1);  // a ##a b, and ##aa, which was there twice (overlapping)
  trainer.add("aaaa");
  EXPECT_TRUE(trainer.train(1000).find("aaaa").has_value());
}

TEST(VocabularyTrainer, DependsOnTheWordsAlone) {
  VocabularyTrainer forward, backward;
  std::vector<std::string> lines;
  for (uint64_t seed = 1; seed < 50; ++seed) lines.push_back(made::text(5, 9, 0, seed));
  for (size_t i = 0; i < lines.size(); ++i) {
    forward.add(lines[i]);
    backward.add(lines[lines.size() - 1 - i]);
  }
  EXPECT_EQ(forward.train(120), backward.train(120));
  EXPECT_EQ(forward.train(120).size(), 120);
}

TEST(VocabularyTrainer, RareCharactersStayUnknownWhenThereAreTooMany) {
  VocabularyTrainer trainer;
  for (char32_t character = 0x4e00; character < 0x4e64; ++character) {  // 100 Chinese characters
    std::string word;
    append_character(word, character);
    trainer.add(word + word + (character < 0x4e08 ? word : ""));
  }
  const Vocabulary vocabulary = trainer.train(40);
  EXPECT_EQ(vocabulary.size(), 5 + 20);  // half of 40
  EXPECT_TRUE(vocabulary.find("\u4e07").has_value());
}

TEST(VocabularyTrainer, SizesAndEmptinessAreRefused) {
  VocabularyTrainer trainer;
  EXPECT_THROW(trainer.train(100), Error);
  trainer.add("a");
  EXPECT_THROW(trainer.train(5), Error);
  EXPECT_THROW(trainer.train(most_tokens + 1), Error);
  EXPECT_EQ(trainer.train(100).size(), 6);
}

}  // namespace
}  // namespace gpusizer
