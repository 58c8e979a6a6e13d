// SPDX-License-Identifier: Apache-2.0
// Numbers for people, also where rounding carries over.
#include "reports/render/units.hpp"

#include <gtest/gtest.h>

namespace gpusizer::render {
namespace {

TEST(Units, SignificantDigits) {
  EXPECT_EQ(significant(1250), "1250");
  EXPECT_EQ(significant(1234567), "1234567");
  EXPECT_EQ(significant(14.2349), "14.23");
  EXPECT_EQ(significant(0.03125), "0.03125");
  EXPECT_EQ(significant(9.9996), "10.00");
  EXPECT_EQ(significant(-2.5, 2), "-2.5");
  EXPECT_EQ(significant(0), "0");
  EXPECT_EQ(significant(1e-9), "1e-09");
}

TEST(Units, Times) {
  EXPECT_EQ(time_text(0.000412), "412 µs");
  EXPECT_EQ(time_text(0.0311), "31.1 ms");
  EXPECT_EQ(time_text(1.314), "1.31 s");
  EXPECT_EQ(time_text(144), "2.40 min");
  EXPECT_EQ(time_text(36000), "10.0 h");
}

TEST(Units, Bytes) {
  EXPECT_EQ(bytes_text(512), "512 B");
  EXPECT_EQ(bytes_text(1536), "1.50 KiB");
  EXPECT_EQ(bytes_text(181403648), "173 MiB");
  EXPECT_EQ(bytes_text(8242331648.0), "7.68 GiB");
}

TEST(Units, Percent) {
  EXPECT_EQ(percent_text(0.9123), "91.2 %");
  EXPECT_EQ(percent_text(0.0175), "1.8 %");
  EXPECT_EQ(percent_text(0.0035), "0.35 %");
  EXPECT_EQ(percent_text(1), "100 %");
  EXPECT_EQ(percent_text(0), "0 %");
}

}  // namespace
}  // namespace gpusizer::render
