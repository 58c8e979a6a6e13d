// SPDX-License-Identifier: Apache-2.0
// Tests of durations, money, counts and prices as people write them.
#include "reports/sizing/goal_text.hpp"

#include <gtest/gtest.h>

#include <string>

#include "gpusizer/error.hpp"

namespace gpusizer::sizing {
namespace {

template <class Parse>
std::string text_refusal(Parse parse, std::string_view text) {
  try {
    parse(text, "--flag");
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
    EXPECT_EQ(error.where(), "--flag");
    EXPECT_FALSE(error.hint().empty());
    return error.what();
  }
  return "";
}

TEST(GoalText, Durations) {
  EXPECT_DOUBLE_EQ(parse_duration_seconds("3600s", "--deadline"), 3600);
  EXPECT_DOUBLE_EQ(parse_duration_seconds("90m", "--deadline"), 5400);
  EXPECT_DOUBLE_EQ(parse_duration_seconds("90 min", "--deadline"), 5400);
  EXPECT_DOUBLE_EQ(parse_duration_seconds("24h", "--deadline"), 86400);
  EXPECT_DOUBLE_EQ(parse_duration_seconds("2d", "--deadline"), 172800);
  EXPECT_DOUBLE_EQ(parse_duration_seconds("0.5h", "--deadline"), 1800);
  EXPECT_DOUBLE_EQ(parse_duration_seconds("1d12h", "--deadline"), 129600);
  EXPECT_DOUBLE_EQ(parse_duration_seconds(" 1h 30m ", "--deadline"), 5400);
}

TEST(GoalText, RefusesOtherDurations) {
  for (const char* text : {"", "24", "h", "24x", "-1h", "0h", "1e3s", "infs", "nand", "1.2.3h", "24h!", "1h,2m",
                           "0x10s", "99999999999999999999d", "24 hours"})
    EXPECT_NE(text_refusal(parse_duration_seconds, text), "") << text;
  EXPECT_EQ(text_refusal(parse_duration_seconds, "soon"),
            "\"soon\" is not a duration (--flag); write a number above 0 with its unit: 3600s, 90m, 24h, 2d or 1d12h");
}

TEST(GoalText, Money) {
  for (const char* text : {"100usd", "100 USD", "$100", "100", "100.00"})
    EXPECT_DOUBLE_EQ(parse_money_usd(text, "--budget"), 100) << text;
  EXPECT_DOUBLE_EQ(parse_money_usd("0.25", "--budget"), 0.25);
}

TEST(GoalText, RefusesOtherMoney) {
  for (const char* text : {"", "0", "$0", "-5usd", "100eur", "$100usd", "1,000usd", "1e3", "inf", "nan", "usd", "$",
                           "1e400", "9999999999999999"})
    EXPECT_NE(text_refusal(parse_money_usd, text), "") << text;
}

TEST(GoalText, Counts) {
  EXPECT_EQ(parse_count("1281167", "--dataset-samples"), 1281167);
  for (const char* text :
       {"", "0", "-5", "1.5", "1e6", "ten", "99999999999999999999999", "1000000000000001", " 5", "+5"})
    EXPECT_NE(text_refusal(parse_count, text), "") << text;
}

TEST(GoalText, PriceOverrides) {
  const PriceOverride price = parse_price_override("aws:c7i.xlarge@us-east-1=0.2", "--price");
  EXPECT_EQ(price.name, "aws:c7i.xlarge@us-east-1");
  EXPECT_DOUBLE_EQ(price.usd_per_hour, 0.2);
  EXPECT_DOUBLE_EQ(parse_price_override("box = $1.5", "--price").usd_per_hour, 1.5);
  for (const char* text : {"", "box", "=1", "box=", "box=0", "box=-1", "box=cheap", "box=nan"})
    EXPECT_NE(text_refusal(parse_price_override, text), "") << text;
}

TEST(GoalText, ALongTextIsNotRepeatedWhole) {
  EXPECT_LT(text_refusal(parse_money_usd, std::string(1'000'000, 'x')).size(), 300u);
}

}  // namespace
}  // namespace gpusizer::sizing
