// SPDX-License-Identifier: Apache-2.0
// Pairs of passages: full where the text allows it, half of them not consecutive, and from another document then.
#include "workloads/data/text_pairs.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace gpusizer {
namespace {

// Documents of `lines` lines with `tokens` tokens; each token is 1000 * document + its place there.
TokenLines made_lines(int documents, int lines, int tokens, int64_t most = 30) {
  TokenLines made;
  for (int32_t document = 0; document < documents; ++document) {
    int32_t next = 1000 * document;
    for (int line = 0; line < lines; ++line) {
      std::vector<int32_t> ids;
      for (int i = 0; i < tokens; ++i) ids.push_back(next++);
      made.add_line(ids, most);
    }
    made.end_document();
  }
  return made;
}

int32_t document_of(const TokenLines& lines, int64_t place) { return lines.ids[static_cast<size_t>(place)] / 1000; }

TEST(TokenLines, CutsLongLinesAndLeavesOutEmptyOnes) {
  TokenLines lines;
  lines.add_line(std::vector<int32_t>(70), 30);
  lines.add_line({}, 30);
  lines.end_document();
  lines.end_document();
  EXPECT_EQ(lines.line_begins, (std::vector<int64_t>{0, 23, 46, 70}));
  EXPECT_EQ(lines.document_begins, (std::vector<int64_t>{0, 3}));
}

TEST(TextPairs, FillTheSequence) {
  for (const int document_lines : {1, 100}) {
    const TokenLines lines = made_lines(2000 / document_lines, document_lines, 8);
    const std::vector<TextPair> pairs = arrange_pairs(lines, 64, PairLength::full);
    ASSERT_GT(pairs.size(), 250u);
    int64_t full = 0, follow = 0;
    for (const TextPair& pair : pairs) {
      ASSERT_LE(pair.sequence_tokens(), 64);
      ASSERT_GE(std::min(pair.first_tokens, pair.second_tokens), 1);
      full += pair.sequence_tokens() == 64;
      follow += pair.follows;
    }
    EXPECT_GT(full, static_cast<int64_t>(pairs.size() * 9 / 10)) << document_lines;
    EXPECT_NEAR(static_cast<double>(follow) / static_cast<double>(pairs.size()), 0.5, 0.16);
  }
}

TEST(TextPairs, TrueNextFollowsAndOthersAreFromElsewhere) {
  const TokenLines lines = made_lines(40, 50, 8);
  for (const PairLength length : {PairLength::full, PairLength::natural}) {
    for (const TextPair& pair : arrange_pairs(lines, 64, length)) {
      const bool next = pair.second_begin == pair.first_begin + pair.first_tokens;
      EXPECT_EQ(next, pair.follows);
      EXPECT_EQ(document_of(lines, pair.first_begin) == document_of(lines, pair.second_begin), pair.follows);
    }
  }
}

TEST(TextPairs, EveryLineOfALongDocumentIsUsed) {
  const TokenLines lines = made_lines(20, 30, 10);
  std::vector<int> used(lines.ids.size());
  for (const TextPair& pair : arrange_pairs(lines, 64, PairLength::full)) {
    for (int64_t i = 0; i < pair.first_tokens; ++i) ++used[static_cast<size_t>(pair.first_begin + i)];
    if (!pair.follows) continue;
    for (int64_t i = 0; i < pair.second_tokens; ++i) ++used[static_cast<size_t>(pair.second_begin + i)];
  }
  // Only ends of lines that were cut are missing; nothing is there twice.
  EXPECT_EQ(*std::max_element(used.begin(), used.end()), 1);
  EXPECT_LT(std::count(used.begin(), used.end(), 0), static_cast<int64_t>(used.size()) / 8);
}

TEST(TextPairs, NaturalLengthIsALineAndTheNext) {
  const TokenLines lines = made_lines(100, 2, 9);
  const std::vector<TextPair> pairs = arrange_pairs(lines, 128, PairLength::natural);
  EXPECT_EQ(pairs.size(), 100u);
  for (const TextPair& pair : pairs) EXPECT_EQ(pair.sequence_tokens(), 9 + 9 + 3);
}

TEST(TextPairs, SmallTexts) {
  EXPECT_TRUE(arrange_pairs(TokenLines(), 64, PairLength::full).empty());
  EXPECT_TRUE(arrange_pairs(made_lines(1, 1, 1), 64, PairLength::full).empty());
  // One line alone is parted in two; there is nothing else to take.
  EXPECT_EQ(arrange_pairs(made_lines(1, 1, 5), 64, PairLength::full), (std::vector<TextPair>{{0, 2, 2, 3, true}}));
  for (const TextPair& pair : arrange_pairs(made_lines(1, 100, 9), 64, PairLength::full)) {
    EXPECT_EQ(pair.follows, pair.second_begin == pair.first_begin + pair.first_tokens);  // one document, other places
  }
}

TEST(TextPairs, AreTheSameEveryTime) {
  const TokenLines lines = made_lines(30, 7, 11);
  EXPECT_EQ(arrange_pairs(lines, 64, PairLength::full), arrange_pairs(lines, 64, PairLength::full));
}

}  // namespace
}  // namespace gpusizer
