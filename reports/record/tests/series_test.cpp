// SPDX-License-Identifier: Apache-2.0
// Block means and the text of a series file.
#include "reports/record/series.hpp"

#include <gtest/gtest.h>

#include "gpusizer/error.hpp"

namespace gpusizer::record {
namespace {

TEST(Series, BlockMeansKeepAShorterLastBlock) {
  EXPECT_EQ(block_means(std::vector<double>{1, 2, 3, 4, 5}, 2), (std::vector<double>{1.5, 3.5, 5}));
  EXPECT_EQ(block_means(std::vector<double>{1, 2}, 1), (std::vector<double>{1, 2}));
  EXPECT_TRUE(block_means({}, 3).empty());
}

TEST(Series, TextComesBackExactly) {
  const std::vector<double> values = {0.1, 1.0 / 3, 5e-324, 2};
  EXPECT_EQ(series_text(values), "0.1\n0.3333333333333333\n5e-324\n2\n");
  EXPECT_EQ(series_from_text(series_text(values), "s.txt"), values);
}

TEST(Series, WrongLinesAreNamed) {
  for (const char* line : {"x", "", " 1", "1 ", "-1", "0", "nan", "inf", "1e999", "1,5", "0x1p3"}) {
    try {
      series_from_text(std::string("0.5\n") + line + "\n0.5\n", "s.txt");
      FAIL() << "was read: " << line;
    } catch (const Error& error) {
      EXPECT_EQ(error.where(), "s.txt, line 2");
    }
  }
  EXPECT_THROW(series_from_text("0.5\n0.", "s.txt"), Error);
}

}  // namespace
}  // namespace gpusizer::record
