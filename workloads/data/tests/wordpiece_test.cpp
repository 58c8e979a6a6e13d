// SPDX-License-Identifier: Apache-2.0
// Words and pieces on worked examples: case, accents, marks, scripts, unknown and overlong words.
#include "workloads/data/wordpiece.hpp"

#include "workloads/data/tests/made_text.hpp"
#include "workloads/data/utf8.hpp"

namespace gpusizer {
namespace {

TEST(SplitWords, LowersCaseAndPartsMarks) {
  EXPECT_EQ(split_words(" \tHeLLo!how  \n Are yoU?  "), "hello ! how are you ?");
  EXPECT_EQ(split_words("don't [MASK] $5-a_b"), "don ' t [ mask ] $ 5 - a _ b");
  EXPECT_EQ(split_words(""), "");
  EXPECT_EQ(split_words(" \r\n "), "");
}

TEST(SplitWords, StripsAccentsHoweverTheyAreWritten) {
  EXPECT_EQ(split_words("H\u00e9llo \u00c5ngstr\u00f6m \u00c9cole"), "hello angstrom ecole");
  EXPECT_EQ(split_words("He\u0301llo"), "hello");                                  // a combining accent
  EXPECT_EQ(split_words("\u1ea4 \u0141 \u00df \u0130"), "a \u0142 \u00df i");      // a stroke is no accent
  EXPECT_EQ(split_words("\u0386\u03a9\u1fb7"), "\u03b1\u03c9\u03b1");              // Greek
  EXPECT_EQ(split_words("\u0419\u043e\u0416\u0401"), "\u0438\u043e\u0436\u0435");  // Cyrillic
  EXPECT_EQ(split_words("\u00c6\u00d8\u00de"), "\u00e6\u00f8\u00fe");
}

TEST(SplitWords, KnowsMarksSpacesAndControlsOfUnicode) {
  EXPECT_EQ(split_words("a\u00a0b\u3000c\u2009d"), "a b c d");
  EXPECT_EQ(split_words("\u201cyes\u201d\u2026\u00bfno"), "\u201c yes \u201d \u2026 \u00bf no");
  EXPECT_EQ(split_words("so\u00adft\u200b\ufeff z\x01y"), "soft zy");
  EXPECT_EQ(split_words("ah\u535a\u63a8zz"), "ah \u535a \u63a8 zz");  // Chinese characters are words
  EXPECT_EQ(split_words("\u304b\u304a"), "\u304b\u304a");             // Japanese letters are not
  EXPECT_EQ(split_words("\ud55c"), "\u1112\u1161\u11ab");             // Korean, by its letters
}

TEST(SplitWords, DropsWhatIsNotUtf8) {
  EXPECT_EQ(split_words("a\xff"
                        "b \xc3"),
            "ab");
  EXPECT_EQ(split_words("\xed\xa0\x80x\xc0\xaf\xf5"), "x");  // a surrogate, an overlong form, beyond Unicode
}

TEST(Utf8, WritesWhatItReads) {
  for (const char32_t character : {U'a', U'\u00e9', U'\u20ac', U'\U0001f600', U'\U0010ffff'}) {
    std::string text;
    append_character(text, character);
    size_t at = 0;
    EXPECT_EQ(next_character(text, at), character);
    EXPECT_EQ(at, text.size());
    EXPECT_EQ(find_invalid_utf8(text), std::string_view::npos);
    if (text.size() > 1) {
      EXPECT_EQ(find_invalid_utf8("ab" + text.substr(0, text.size() - 1)), 2u);
    }
  }
}

TEST(WordPiece, TakesTheLongestPieceFirst) {
  const Vocabulary vocabulary =
      made::vocabulary({"un", "##aff", "##able", "able", "##a", "want", "##want", "##ed", ","});
  const WordPiece word_piece(vocabulary);
  const auto pieces = [&](std::string_view text) {
    std::string found;
    for (const int32_t id : word_piece.encode(text)) found += vocabulary.token(id) + "|";
    return found;
  };
  EXPECT_EQ(pieces("unaffable"), "un|##aff|##able|");
  EXPECT_EQ(pieces("UNwanted, able"), "un|##want|##ed|,|able|");
  EXPECT_EQ(pieces("unwantedX able"), "[UNK]|able|");  // one part unknown: the whole word is
  EXPECT_EQ(pieces("ableun"), "[UNK]|");               // "un" is known at the begin only
  EXPECT_EQ(pieces("[MASK]"), "[UNK]|[UNK]|[UNK]|");   // special tokens cannot be written in a text
  EXPECT_EQ(pieces(""), "");
}

TEST(WordPiece, OverlongWordsAreUnknown) {
  const Vocabulary vocabulary = made::vocabulary({"\u00e6", "##\u00e6", "##"});
  const WordPiece word_piece(vocabulary);
  std::string word;
  for (int i = 0; i < 100; ++i) word += "\u00e6";
  EXPECT_EQ(word_piece.encode(word).size(), 100u);
  EXPECT_EQ(word_piece.encode(word + "\u00e6"), std::vector<int32_t>{vocabulary.special().unknown});
  EXPECT_EQ(word_piece.encode(std::string(1 << 20, 'a')), std::vector<int32_t>{vocabulary.special().unknown});
}

}  // namespace
}  // namespace gpusizer
