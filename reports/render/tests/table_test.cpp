// SPDX-License-Identifier: Apache-2.0
// Tables: alignment, dropping and wrapping to a width, colours, untrusted cells.
#include "reports/render/table.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "gpusizer/error.hpp"
#include "reports/render/text.hpp"

namespace gpusizer::render {
namespace {

Table example_table() {
  return {{{"model"}, {"images/s", Align::right}, {"commit", Align::left, 1}, {"note", Align::left, 0, 10}},
          {{"resnet50", "14.2", "abc123", "half width not reached"}, {"resnet8", "1250", "abc123", ""}}};
}

TEST(Table, AlignsWithoutTrailingSpaces) {
  EXPECT_EQ(layout(example_table()),
            "model     images/s  commit  note\n"
            "--------  --------  ------  ----------------------\n"
            "resnet50      14.2  abc123  half width not reached\n"
            "resnet8       1250  abc123\n");
}

TEST(Table, WrapsBeforeItDrops) {
  EXPECT_EQ(layout(example_table(), {38, false}),
            "model     images/s  commit  note\n"
            "--------  --------  ------  ----------\n"
            "resnet50      14.2  abc123  half width\n"
            "                            not\n"
            "                            reached\n"
            "resnet8       1250  abc123\n");
}

TEST(Table, DropsColumnsByTheirOrderAndSaysSo) {
  EXPECT_EQ(layout(example_table(), {34, false}),
            "model     images/s  note\n"
            "--------  --------  --------------\n"
            "resnet50      14.2  half width not\n"
            "                    reached\n"
            "resnet8       1250\n"
            "(left out for width: commit)\n");
}

TEST(Table, NoLineIsWiderThanAsked) {
  for (std::size_t width = 20; width < 70; ++width) {
    std::istringstream lines(layout(example_table(), {width, false}));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), width) << line;
  }
}

TEST(Table, CutsOnlyAsTheLastResort) {
  const Table table{{{"model"}}, {{"a-very-long-name"}}};
  EXPECT_EQ(layout(table, {8, false}), "model\n--------\na-very-…\n");
}

TEST(Table, ColoursOnlyWhenAsked) {
  const Table table{{{"status"}, {"n", Align::right}}, {{{"failed", Tone::bad}, "1"}}};
  EXPECT_EQ(layout(table).find('\x1b'), std::string::npos);
  EXPECT_EQ(layout(table, {0, true}), "status  n\n------  -\n\x1b[31mfailed\x1b[0m  1\n");
}

TEST(Table, UntrustedCellsCannotSteerTheTerminal) {
  const Table table{{{"model"}}, {{"x\x1b]0;owned\x07\ny"}}};
  const std::string text = layout(table, {0, true});
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_NE(text.find("x\\x1b]0;owned\\x07\\ny"), std::string::npos);
}

TEST(Table, ARowLongerThanTheColumnsIsRefused) {
  EXPECT_THROW(layout({{{"a"}}, {{"1", "2"}}}), Error);
}

TEST(Table, NoRowsIsStillATable) { EXPECT_EQ(layout({{{"a"}}, {}}), "a\n-\n"); }

}  // namespace
}  // namespace gpusizer::render
