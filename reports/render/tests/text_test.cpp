// SPDX-License-Identifier: Apache-2.0
// Widths of UTF-8 text, cutting, wrapping, and text that tries to steer the terminal.
#include "reports/render/text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace gpusizer::render {
namespace {

TEST(Text, MarkupCannotBeEnded) {
  EXPECT_EQ(markup_text("<b a='\"'>&amp;</b>\x1b\n"), "&lt;b a=&#39;&quot;&#39;&gt;&amp;amp;&lt;/b&gt;  ");
  EXPECT_EQ(markup_text("12 \u00b5s"), "12 \u00b5s");
}

TEST(Text, ControlCharactersBecomeVisible) {
  EXPECT_EQ(printable("a\x1b[31mred"), "a\\x1b[31mred");
  EXPECT_EQ(printable("two\nlines\tand\r\x07"), "two\\nlines\\tand\\x0d\\x07");
  EXPECT_EQ(printable(std::string("nul\0!", 5)), "nul\\x00!");
  EXPECT_EQ(printable("\xc2\x9b" "31m"), "\\x9b31m");            // C1 form of ESC [
  EXPECT_EQ(printable("abc\xe2\x80\xae" "fed"), "abc\\u202efed");  // right-to-left override
  EXPECT_EQ(printable("a\xe2\x80\x8b" "b"), "a\\u200bb");         // zero width space
}

TEST(Text, BrokenUtf8BecomesVisibleAndGoodUtf8Stays) {
  EXPECT_EQ(printable("µs – 99 %"), "µs – 99 %");
  EXPECT_EQ(printable("\xff\xc3"), "\\xff\\xc3");
  EXPECT_EQ(printable("\xc0\x9b"), "\\xc0\\x9b");          // overlong ESC
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // a surrogate
}

TEST(Text, WidthCountsColumnsNotBytes) {
  EXPECT_EQ(display_width("µs"), 2u);
  EXPECT_EQ(display_width("±0.5 %"), 6u);
  EXPECT_EQ(display_width("e\xcc\x81"), 1u);  // e and a combining accent
  EXPECT_EQ(display_width("日本"), 4u);
}

TEST(Text, CutKeepsWholeCharacters) {
  EXPECT_EQ(cut_to_width("resnet50", 8), "resnet50");
  EXPECT_EQ(cut_to_width("resnet50", 4), "res…");
  EXPECT_EQ(cut_to_width("日本語", 4), "日…");
  EXPECT_EQ(cut_to_width("日本語", 1), ".");
  EXPECT_EQ(cut_to_width("abc", 0), "");
}

TEST(Text, WrapBreaksAtSpacesAndLongWordsWhereItMust) {
  EXPECT_EQ(wrap_to_width("the loss was not finite", 8),
            (std::vector<std::string>{"the loss", "was not", "finite"}));
  EXPECT_EQ(wrap_to_width("abcdefghij", 4), (std::vector<std::string>{"abcd", "efgh", "ij"}));
  EXPECT_EQ(wrap_to_width("", 4), (std::vector<std::string>{""}));
  EXPECT_EQ(wrap_to_width("日本", 1), (std::vector<std::string>{"日", "本"}));
}

}  // namespace
}  // namespace gpusizer::render
