// SPDX-License-Identifier: Apache-2.0
// Starting values: the generator's published vectors, the moments, and what the values depend on.
#include "workloads/program/initial_values.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>

namespace gpusizer {
namespace {

using Words = std::array<uint32_t, 4>;

// Known-answer vectors of the generator's authors (Random123, kat_vectors, philox4x32 with 10 rounds).
TEST(Philox, GivesThePublishedVectors) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const uint32_t ones = 0xffffffff;
  EXPECT_EQ(philox({ones, ones, ones, ones}, {ones, ones}), (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

Tensor tensor(const char* name, Initializer::Kind kind, double value, Shape shape = {200, 500}) {
  return {.name = name, .shape = std::move(shape), .role = Role::parameter, .initial = {kind, value}};
}

double mean_power(const std::vector<float>& values, int power) {
  double sum = 0;
  for (const float v : values) sum += std::pow(static_cast<double>(v), power);
  return sum / static_cast<double>(values.size());
}

// With 100,000 values each tolerance is more than four standard errors.
TEST(InitialValues, NormalValuesHaveNormalMoments) {
  const auto v = initial_values(tensor("w", Initializer::Kind::normal, 2.0), 1);
  EXPECT_NEAR(mean_power(v, 1), 0, 0.03);
  EXPECT_NEAR(mean_power(v, 2), 4, 0.08);
  EXPECT_NEAR(mean_power(v, 3), 0, 0.45);
  EXPECT_NEAR(mean_power(v, 4), 48, 2.5);
  double neighbours = 0;
  for (size_t i = 1; i < v.size(); ++i) neighbours += static_cast<double>(v[i]) * v[i - 1] / static_cast<double>(v.size());
  EXPECT_NEAR(neighbours, 0, 0.06) << "neighbours do not go together";
}

TEST(InitialValues, UniformValuesFillTheirInterval) {
  const auto v = initial_values(tensor("w", Initializer::Kind::uniform, 0.5), 1);
  EXPECT_GE(std::ranges::min(v), -0.5f);
  EXPECT_LE(std::ranges::max(v), 0.5f);
  EXPECT_LT(std::ranges::min(v), -0.499f);
  EXPECT_GT(std::ranges::max(v), 0.499f);
  EXPECT_NEAR(mean_power(v, 1), 0, 0.004);
  EXPECT_NEAR(mean_power(v, 2), 1.0 / 12, 0.001);
}

TEST(InitialValues, ConstantsAreConstant) {
  EXPECT_EQ(initial_values(tensor("w", Initializer::Kind::constant, 3, {2, 2}), 1), (std::vector<float>{3, 3, 3, 3}));
  EXPECT_EQ(initial_values(tensor("s", Initializer::Kind::constant, 1, {}), 1), std::vector<float>{1});
}

TEST(InitialValues, DependOnSeedNameAndElementAlone) {
  const auto values = [](const char* name, uint64_t seed, Shape shape) {
    return initial_values(tensor(name, Initializer::Kind::normal, 1, std::move(shape)), seed);
  };
  const auto base = values("layer1.weight", 7, {1000});
  EXPECT_EQ(base, values("layer1.weight", 7, {1000}));
  EXPECT_EQ(base, values("layer1.weight", 7, {10, 100})) << "the shape only names the elements";
  const auto longer = values("layer1.weight", 7, {1003});
  EXPECT_TRUE(std::ranges::equal(base, std::span(longer).first(1000))) << "a longer tensor starts alike";
  const std::vector<std::vector<float>> others{values("layer1.bias", 7, {1000}), values("layer1.weight", 8, {1000}),
                                               values("layer1.weight", 7 + (1ull << 32), {1000})};
  for (const auto& other : others) {
    double product = 0;
    for (size_t i = 0; i < 1000; ++i) product += static_cast<double>(base[i]) * other[i] / 1000;
    EXPECT_LT(std::abs(product), 0.15) << "another name or seed gives unrelated values";
  }
}

}  // namespace
}  // namespace gpusizer
