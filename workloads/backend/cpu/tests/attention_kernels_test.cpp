// SPDX-License-Identifier: Apache-2.0
// Each instruction set's attention against plain loops in double: lengths, head sizes and blocks that fill nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "workloads/backend/cpu/tests/runnable_kernels.hpp"
#include "workloads/program/dropout_mask.hpp"

namespace gpusizer::cpu {
namespace {

struct Case {
  AttentionShape shape;
  std::vector<int32_t> lengths;  // empty: no mask
  double rate = 0;
};

// Context and dqkv in double.
struct Wanted {
  std::vector<double> context, dqkv;
};

Wanted wanted(const Case& c, const std::vector<float>& qkv, const std::vector<float>& dcontext,
              const DropoutDraw& draw) {
  const AttentionShape& s = c.shape;
  const auto S = static_cast<size_t>(s.sequence), D = static_cast<size_t>(s.head_size),
             H = static_cast<size_t>(s.heads);
  const size_t hidden = H * D;
  Wanted w{std::vector<double>(dcontext.size()), std::vector<double>(qkv.size())};
  const double scale = 1 / std::sqrt(static_cast<double>(D)), keep = dropout_mask::scale(c.rate);
  for (size_t n = 0; n < static_cast<size_t>(s.batch); ++n)
    for (size_t h = 0; h < H; ++h) {
      const size_t length = c.lengths.empty() ? S : static_cast<size_t>(c.lengths[n]);
      const auto at = [&](size_t part, size_t token, size_t d) {
        return (n * S + token) * 3 * hidden + part * hidden + h * D + d;
      };
      for (size_t i = 0; i < S; ++i) {
        std::vector<double> p(length), dp(length), factor(length, 1);
        double sum = 0, expected = 0;
        for (size_t j = 0; j < length; ++j) {
          for (size_t d = 0; d < D; ++d) p[j] += scale * qkv[at(0, i, d)] * qkv[at(1, j, d)];
          sum += p[j] = std::exp(p[j]);
          const size_t element = ((n * H + h) * S + i) * S + j;
          const uint32_t word = dropout_mask::words(element / 4, draw.seed, draw.step, draw.stream)[element % 4];
          if (c.rate > 0) factor[j] = dropout_mask::keep(word, draw.threshold) ? keep : 0;
        }
        const float* g = &dcontext[(n * S + i) * hidden + h * D];
        for (size_t j = 0; j < length; ++j) {
          p[j] /= sum;
          for (size_t d = 0; d < D; ++d) {
            w.context[(n * S + i) * hidden + h * D + d] += p[j] * factor[j] * qkv[at(2, j, d)];
            w.dqkv[at(2, j, d)] += p[j] * factor[j] * g[d];
            dp[j] += factor[j] * g[d] * qkv[at(2, j, d)];
          }
          expected += p[j] * dp[j];
        }
        for (size_t j = 0; j < length; ++j)
          for (size_t d = 0; d < D; ++d) {
            w.dqkv[at(0, i, d)] += scale * p[j] * (dp[j] - expected) * qkv[at(1, j, d)];
            w.dqkv[at(1, j, d)] += scale * p[j] * (dp[j] - expected) * qkv[at(0, i, d)];
          }
      }
    }
  return w;
}

void check(const VectorKernels& k, const Case& c) {
  const AttentionShape& s = c.shape;
  SCOPED_TRACE(std::string(k.instruction_set) + " sequence " + std::to_string(s.sequence));
  const auto count = static_cast<size_t>(s.batch * s.sequence * s.heads * s.head_size);
  const auto qkv = normal_values(3 * count, 1), dcontext = normal_values(count, 2);
  const DropoutDraw draw{5, 9, 1, dropout_mask::threshold(c.rate)};
  const bool drops = c.rate > 0;
  std::vector<float> context(count), dqkv(3 * count, 7);
  std::vector<std::byte> saved(static_cast<size_t>(k.attention.saved_bytes(s, drops)));
  std::vector<std::byte> workspace(static_cast<size_t>(k.attention.workspace_bytes(s)));
  const int32_t* lengths = c.lengths.empty() ? nullptr : c.lengths.data();
  const float keep = static_cast<float>(dropout_mask::scale(c.rate));
  k.attention.forward({s, qkv.data(), lengths, context.data(), saved.data(), workspace.data(), drops, draw, keep});
  k.attention.backward(
      {s, dcontext.data(), qkv.data(), lengths, saved.data(), dqkv.data(), workspace.data(), drops, keep});
  const Wanted w = wanted(c, qkv, dcontext, draw);
  for (size_t i = 0; i < count; ++i) ASSERT_NEAR(context[i], w.context[i], 2e-5) << "element " << i;
  for (size_t i = 0; i < 3 * count; ++i) ASSERT_NEAR(dqkv[i], w.dqkv[i], 5e-5) << "element " << i;

  std::vector<float> again(count);  // nothing kept: an evaluation
  k.attention.forward({s, qkv.data(), lengths, again.data(), nullptr, workspace.data(), drops, draw, keep});
  EXPECT_EQ(again, context);
}

TEST(AttentionKernels, AgreeWithSumsInDouble) {
  SKIP_WHERE_BARRIERS_ARE_UNSEEN();
  const Case cases[] = {
      {{2, 2, 16, 16, 2}, {}, 0},       {{1, 3, 7, 5, 4}, {}, 0.2},    {{3, 1, 33, 20, 2}, {1, 17, 33}, 0.1},
      {{2, 2, 64, 64, 3}, {64, 40}, 0}, {{1, 1, 200, 24, 1}, {}, 0.1}, {{2, 1, 270, 8, 2}, {1, 201}, 0.5},
      {{1, 2, 1, 4, 1}, {}, 0},
  };
  for (const VectorKernels* k : runnable_kernels())
    for (const Case& c : cases) check(*k, c);
}

}  // namespace
}  // namespace gpusizer::cpu
