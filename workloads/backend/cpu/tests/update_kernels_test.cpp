// SPDX-License-Identifier: Apache-2.0
// Each instruction set's updates and roundings against formulas in double and the rule that all backends share.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "workloads/backend/cpu/tests/runnable_kernels.hpp"
#include "workloads/program/rounding.hpp"

namespace gpusizer::cpu {
namespace {

constexpr size_t counts[] = {1, 15, 45, 20011};
constexpr UpdateTerms terms{0.1f, 0.01f, 0.5f};

double sign_of_number(double w) { return w > 0 ? 1 : w < 0 ? -1 : 0; }
double with_all_terms(double g, double w) {
  return double{terms.factor} * g + double{terms.weight_decay} * w + double{terms.l1} * sign_of_number(w);
}

TEST(UpdateKernels, AdagradAndAdamFollowTheirFormulas) {
  for (const VectorKernels* k : runnable_kernels())
    for (const size_t count : counts) {
      const auto n = static_cast<int64_t>(count);
      const auto w0 = normal_values(count, 1), g = normal_values(count, 2), m0 = normal_values(count, 3);
      auto s0 = normal_values(count, 4);
      for (float& s : s0) s = std::abs(s);
      auto w = w0, sum = s0, wa = w0, m = m0, v = s0;
      k->update.adagrad({w.data(), g.data(), sum.data(), n, 0.1f, 1e-3f, terms});
      AdamStep step{wa.data(), g.data(), m.data(), v.data(), n, 0.1f, 0.9f, 0.99f, 1e-3f};
      step.first_share = 0.1f, step.second_share = 0.01f;
      step.first_correction = 2, step.second_correction = 4, step.shrink = 0.9f, step.terms = terms;
      k->update.adam(step);
      for (size_t i = 0; i < count; ++i) {
        const double d = with_all_terms(g[i], w0[i]), s = s0[i] + d * d;
        EXPECT_NEAR(sum[i], s, 1e-5 * s);
        EXPECT_NEAR(w[i], w0[i] - 0.1 * d / (std::sqrt(s) + 1e-3), 1e-5);
        const double first = 0.9 * m0[i] + 0.1 * d, second = 0.99 * s0[i] + 0.01 * d * d;
        EXPECT_NEAR(m[i], first, 1e-5);
        EXPECT_NEAR(v[i], second, 1e-5);
        EXPECT_NEAR(wa[i], 0.9 * w0[i] - 0.1 * 2 * first / (std::sqrt(4 * second) + 1e-3), 1e-4);
      }
    }
}

TEST(UpdateKernels, LambScalesItsUpdateByTheNorms) {
  for (const VectorKernels* k : runnable_kernels())
    for (const size_t count : counts) {
      const auto w0 = normal_values(count, 1, 1), g = normal_values(count, 2);
      auto w = w0;
      std::vector<float> m(count, 0), v(count, 0);
      std::vector<double> partial(static_cast<size_t>(2 * sum_blocks(static_cast<int64_t>(count))));
      AdamStep adam{w.data(), g.data(), m.data(), v.data(), static_cast<int64_t>(count), 0.1f, 0.9f, 0.99f, 0};
      adam.first_share = 0.1f, adam.second_share = 0.01f, adam.first_correction = 10, adam.second_correction = 100;
      k->update.lamb({adam, 0.5f, partial.data()});
      double weights = 0, updates = 0;  // the first step's update is the gradient's sign; an epsilon of 0 is no trouble
      const auto update = [&](size_t i) { return sign_of_number(g[i]) + 0.5 * w0[i]; };
      for (size_t i = 0; i < count; ++i) {
        weights += double{w0[i]} * w0[i];
        updates += update(i) * update(i);
      }
      const double ratio = std::sqrt(weights / updates);
      for (size_t i = 0; i < count; ++i) ASSERT_NEAR(w[i], w0[i] - 0.1 * ratio * update(i), 1e-4) << k->instruction_set;
    }
}

TEST(UpdateKernels, SquareSumsTakeAnyCount) {
  for (const VectorKernels* k : runnable_kernels())
    for (const size_t count : counts) {
      const auto values = normal_values(count, 1);
      double wanted = 0;
      for (const float v : values) wanted += double{v} * v;
      EXPECT_NEAR(k->update.square_sum(values.data(), static_cast<int64_t>(count)), wanted, 1e-12 * wanted);
    }
}

// Every sign, every exponent, mantissas next to every tie; infinite, no number.
std::vector<float> special_values() {
  std::vector<float> values;
  for (uint32_t high = 0; high < 0x200; ++high)
    for (const uint32_t low : {0u, 1u, 0xfffu, 0x1000u, 0x1001u, 0x2000u, 0x3000u, 0x7fffu, 0x8000u, 0x8001u, 0x18000u,
                               0x3fffffu, 0x400000u, 0x7fefffu, 0x7ff000u, 0x7fffffu})
      values.push_back(std::bit_cast<float>(high << 23 | low));
  return values;
}

TEST(RoundKernels, RoundBitForBitAsTheSharedRule) {
  const auto values = special_values();
  for (const VectorKernels* k : runnable_kernels()) {
    const std::pair<RoundKernel, DType> kernels[] = {{k->round.none, DType::f32}, {k->round.f16, DType::f16},
                                                     {k->round.bf16, DType::bf16}, {k->round.tf32, DType::tf32}};
    for (const auto& [round, dtype] : kernels) {
      auto got = values;
      round(got.data(), got.data(), static_cast<int64_t>(got.size()) - 3);  // the last ones stay
      for (size_t i = 0; i < values.size(); ++i) {
        const float wanted = i + 3 < values.size() ? round_to(dtype, values[i]) : values[i];
        ASSERT_EQ(std::bit_cast<uint32_t>(got[i]), std::bit_cast<uint32_t>(wanted))
            << k->instruction_set << " " << to_string(dtype) << " of " << values[i];
      }
    }
  }
}

}  // namespace
}  // namespace gpusizer::cpu
