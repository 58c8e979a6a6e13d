// SPDX-License-Identifier: Apache-2.0
// Rounding to short types, on every value that f16 and bf16 have and on what lies between two of them.
#include "workloads/program/rounding.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace gpusizer {
namespace {

constexpr float infinite = std::numeric_limits<float>::infinity();

uint32_t bits(float value) { return std::bit_cast<uint32_t>(value); }
float from_bits(uint32_t word) { return std::bit_cast<float>(word); }

// The finite positive values of a type in ascending order, by its definition: subnormal numbers first.
std::vector<double> values_of(int mantissa_bits, int lowest_exponent, int highest_exponent) {
  std::vector<double> values;
  const int count = 1 << mantissa_bits;
  for (int m = 0; m < count; ++m) values.push_back(std::ldexp(m, lowest_exponent - mantissa_bits));
  for (int e = lowest_exponent; e <= highest_exponent; ++e)
    for (int m = 0; m < count; ++m) values.push_back(std::ldexp(count + m, e - mantissa_bits));
  return values;
}

// Every value stays; half of the way between two goes to the even one, a little beside it to the nearer one.
void expect_nearest_even(DType dtype, const std::vector<double>& values) {
  for (size_t i = 0; i < values.size(); ++i) {
    for (const double sign : {1.0, -1.0})
      ASSERT_EQ(bits(round_to(dtype, static_cast<float>(sign * values[i]))), bits(static_cast<float>(sign * values[i]))) << i;
    if (i + 1 == values.size()) break;
    const auto half = static_cast<float>((values[i] + values[i + 1]) / 2);
    if (half <= values[i] || half >= values[i + 1]) continue;  // f32 has nothing between them
    ASSERT_EQ(round_to(dtype, half), values[i + i % 2]) << i;
    ASSERT_EQ(round_to(dtype, -half), -values[i + i % 2]) << i;
    ASSERT_EQ(round_to(dtype, std::nextafter(half, 0.0f)), values[i]) << i;
    ASSERT_EQ(round_to(dtype, std::nextafter(half, infinite)), values[i + 1]) << i;
  }
}

TEST(Rounding, F16IsNearestEvenOnEveryValue) { expect_nearest_even(DType::f16, values_of(10, -14, 15)); }
TEST(Rounding, Bf16IsNearestEvenOnEveryValue) { expect_nearest_even(DType::bf16, values_of(7, -126, 127)); }
TEST(Rounding, Tf32IsNearestEvenOnEveryValue) { expect_nearest_even(DType::tf32, values_of(10, -126, 127)); }

TEST(Rounding, F16HasItsRange) {
  EXPECT_EQ(round_to(DType::f16, 65519.99f), 65504.0f);
  EXPECT_EQ(round_to(DType::f16, 65520.0f), infinite);
  EXPECT_EQ(round_to(DType::f16, -65520.0f), -infinite);
  EXPECT_EQ(round_to(DType::f16, 3e38f), infinite);
  EXPECT_EQ(round_to(DType::f16, 0x1p-25f), 0.0f);
  EXPECT_EQ(round_to(DType::f16, 0x1.8p-25f), 0x1p-24f);
  EXPECT_EQ(bits(round_to(DType::f16, -0x1p-30f)), 0x80000000u) << "the zero keeps its sign";
  EXPECT_EQ(round_to(DType::f16, from_bits(1)), 0.0f);
}

TEST(Rounding, ExactBitPatterns) {
  EXPECT_EQ(bits(round_to(DType::bf16, from_bits(0x3f808000u))), 0x3f800000u);
  EXPECT_EQ(bits(round_to(DType::bf16, from_bits(0x3f818000u))), 0x3f820000u);
  EXPECT_EQ(bits(round_to(DType::bf16, from_bits(0x3f808001u))), 0x3f810000u);
  EXPECT_EQ(bits(round_to(DType::bf16, from_bits(0x7f7fffffu))), 0x7f800000u) << "beyond the largest";
  EXPECT_EQ(bits(round_to(DType::tf32, from_bits(0x3f801000u))), 0x3f800000u);
  EXPECT_EQ(bits(round_to(DType::tf32, from_bits(0x3f803000u))), 0x3f804000u);
  EXPECT_EQ(bits(round_to(DType::tf32, from_bits(0x3fffffffu))), 0x40000000u) << "the carry reaches the exponent";
  EXPECT_EQ(bits(round_to(DType::f16, from_bits(0x3f801000u))), 0x3f800000u);
}

TEST(Rounding, InfiniteAndNotANumberStay) {
  for (const DType dtype : {DType::f16, DType::bf16, DType::tf32}) {
    EXPECT_EQ(round_to(dtype, infinite), infinite);
    EXPECT_EQ(round_to(dtype, -infinite), -infinite);
    for (const uint32_t word : {0x7fc00000u, 0x7f800001u, 0xff800001u, 0x7fffffffu, 0xffffffffu})
      EXPECT_TRUE(std::isnan(round_to(dtype, from_bits(word)))) << std::hex << word;
  }
}

TEST(Rounding, OtherTypesAreLeftAlone) {
  const float value = from_bits(0x3f800001u);
  EXPECT_EQ(round_to(DType::f32, value), value);
  EXPECT_EQ(round_to(DType::i32, value), value);
  EXPECT_FALSE(is_rounded(DType::f32));
  EXPECT_FALSE(is_rounded(DType::i32));
  EXPECT_TRUE(is_rounded(DType::tf32));
}

TEST(Rounding, ArraysAreRoundedAsTheirElements) {
  std::vector<float> values;
  for (uint32_t i = 0; i < 4000; ++i) values.push_back(from_bits(i * 1'073'741u + 12345u));
  for (const DType dtype : {DType::f16, DType::bf16, DType::tf32, DType::f32}) {
    std::vector<float> all = values;
    round_to(dtype, all);
    for (size_t i = 0; i < values.size(); ++i) ASSERT_EQ(bits(all[i]), bits(round_to(dtype, values[i]))) << i;
  }
}

}  // namespace
}  // namespace gpusizer
