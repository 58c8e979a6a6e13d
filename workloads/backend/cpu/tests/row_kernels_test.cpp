// SPDX-License-Identifier: Apache-2.0
// Each instruction set's kernels over rows against plain loops in double, on widths that do not fill vectors.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "workloads/backend/cpu/tests/runnable_kernels.hpp"
#include "workloads/program/dropout_mask.hpp"

namespace gpusizer::cpu {
namespace {

bool is_kept(const DropoutDraw& d, uint64_t element) {
  return dropout_mask::keep(dropout_mask::words(element / 4, d.seed, d.step, d.stream)[element % 4], d.threshold);
}

TEST(RowKernels, DropoutKeepsExactlyWhatTheMaskSays) {
  const DropoutDraw draw{7, 3, 2, dropout_mask::threshold(0.3)};
  for (const VectorKernels* k : runnable_kernels())
    for (const size_t count : {1u, 5u, 16u, 31u, 32u, 33u, 2049u, 9000u}) {
      const auto x = normal_values(count, 1), residual = normal_values(count, 2);
      std::vector<float> y(count), sum(count), dx(count);
      std::vector<uint8_t> bits(static_cast<size_t>(dropout_bit_bytes(static_cast<int64_t>(count))));
      k->rows.dropout_forward({x.data(), nullptr, y.data(), bits.data(), static_cast<int64_t>(count), draw, 2.f});
      k->rows.dropout_forward({x.data(), residual.data(), sum.data(), nullptr, static_cast<int64_t>(count), draw, 2.f});
      k->rows.dropout_backward(x.data(), bits.data(), dx.data(), static_cast<int64_t>(count), 2.f);
      for (size_t i = 0; i < count; ++i) {
        const float wanted = is_kept(draw, i) ? x[i] * 2 : 0;
        ASSERT_EQ(y[i], wanted) << k->instruction_set << " element " << i;
        ASSERT_NEAR(sum[i], wanted + residual[i], 1e-6) << k->instruction_set << " element " << i;
        ASSERT_EQ(dx[i], wanted) << k->instruction_set << " element " << i;
      }
    }
}

void check_layer_norm(const VectorKernels& k, int64_t rows, int64_t width, int parts, float centre) {
  SCOPED_TRACE(std::string(k.instruction_set) + " width " + std::to_string(width));
  const auto count = static_cast<size_t>(rows * width), w = static_cast<size_t>(width);
  const auto x = normal_values(count, 1, centre), dy = normal_values(count, 2);
  const auto scale = normal_values(w, 3, 1), shift = normal_values(w, 4);
  std::vector<float> y(count), dx(count), mean(static_cast<size_t>(rows)), inverse(mean.size()), dscale(w), dshift(w);
  std::vector<float> partial(static_cast<size_t>(k.rows.layer_norm_workspace_bytes(width, parts)) / sizeof(float));
  k.rows.layer_norm_forward(
      {x.data(), scale.data(), shift.data(), y.data(), mean.data(), inverse.data(), rows, width, 1e-3f});
  k.rows.layer_norm_backward({dy.data(), x.data(), scale.data(), mean.data(), inverse.data(), dx.data(), dscale.data(),
                              dshift.data(), partial.data(), rows, width, parts});
  std::vector<double> want_scale(w), want_shift(w);
  for (size_t r = 0; r < static_cast<size_t>(rows); ++r) {
    const float *xr = &x[r * w], *gr = &dy[r * w];
    double m = 0, v = 0, sum = 0, product = 0;
    for (size_t i = 0; i < w; ++i) m += xr[i] / static_cast<double>(width);
    for (size_t i = 0; i < w; ++i) v += (xr[i] - m) * (xr[i] - m) / static_cast<double>(width);
    const double inv = 1 / std::sqrt(v + 1e-3);
    for (size_t i = 0; i < w; ++i) {
      const double n = (xr[i] - m) * inv;
      EXPECT_NEAR(y[r * w + i], n * scale[i] + shift[i], 1e-4);
      sum += gr[i] * scale[i] / static_cast<double>(width);
      product += gr[i] * scale[i] * n / static_cast<double>(width);
      want_scale[i] += gr[i] * n;
      want_shift[i] += gr[i];
    }
    for (size_t i = 0; i < w; ++i)
      EXPECT_NEAR(dx[r * w + i], inv * (gr[i] * scale[i] - sum - (xr[i] - m) * inv * product), 1e-4 * inv);
  }
  for (size_t i = 0; i < w; ++i) {
    EXPECT_NEAR(dscale[i], want_scale[i], 1e-3);
    EXPECT_NEAR(dshift[i], want_shift[i], 1e-4);
  }
}

TEST(RowKernels, LayerNormAgreesWithSumsInDouble) {
  SKIP_WHERE_BARRIERS_ARE_UNSEEN();
  for (const VectorKernels* k : runnable_kernels())
    for (const int64_t width : {1, 3, 8, 16, 17, 47, 64, 100, 768}) check_layer_norm(*k, 5, width, 2, 0.5f);
  for (const VectorKernels* k : runnable_kernels()) check_layer_norm(*k, 3, 70, 4, 20);  // more threads than rows
}

TEST(RowKernels, SoftmaxOfARow) {
  for (const VectorKernels* k : runnable_kernels())
    for (const size_t count : {1u, 2u, 15u, 16u, 40u, 65u, 1024u, 30522u}) {
      SCOPED_TRACE(std::string(k->instruction_set) + " of " + std::to_string(count));
      auto x = normal_values(count, 5, 3, 4);
      const size_t largest = static_cast<size_t>(std::ranges::max_element(x) - x.begin());
      double sum = 0, total = 0;
      for (const float v : x) {
        sum += std::exp(static_cast<double>(v) - x[largest]);
        total += static_cast<double>(v) - x[largest];
      }
      const auto n = static_cast<int64_t>(count);
      const SoftmaxRow r = k->rows.softmax_row(x.data(), n, static_cast<int64_t>(largest), true);
      EXPECT_EQ(r.top, x[largest]);
      EXPECT_NEAR(r.sum, sum, 1e-6 * sum);
      EXPECT_NEAR(r.total, total, 1e-5 * std::abs(total) + 1e-6);
      EXPECT_TRUE(r.correct);
      if (count > 1) {
        const size_t other = largest == 0 ? 1 : 0;
        EXPECT_FALSE(k->rows.softmax_row(x.data(), n, static_cast<int64_t>(other), false).correct);
        x[other] = x[largest];  // of equal logits the first counts
        EXPECT_EQ(k->rows.softmax_row(x.data(), n, static_cast<int64_t>(largest), false).correct, largest < other);
      }
      std::vector<float> dx(count);
      const float inverse = static_cast<float>(1 / sum);
      k->rows.softmax_row_gradient(x.data(), dx.data(), n, {r.top, inverse, 0.25f, 2});
      for (size_t i = 0; i < count; ++i)
        EXPECT_NEAR(dx[i], 2 * (std::exp(static_cast<double>(x[i]) - r.top) * inverse - 0.25), 1e-6);
    }
}

TEST(RowKernels, ANaNAmongTheLogitsIsSeen) {
  for (const VectorKernels* k : runnable_kernels())
    for (const size_t at : {0u, 7u, 36u}) {
      auto x = normal_values(37, 1);
      x[at] = std::numeric_limits<float>::quiet_NaN();
      EXPECT_TRUE(std::isnan(k->rows.softmax_row(x.data(), 37, 1, false).sum)) << k->instruction_set << " at " << at;
    }
}

TEST(RowKernels, FunctionsOfSingleElements) {
  std::vector<float> x;
  for (float v = -12; v <= 12; v += 0.0137f) x.push_back(v);
  for (const float v : {0.f, -0.f, 1e-20f, -1e-3f, 100.f, -100.f}) x.push_back(v);
  const auto dy = normal_values(x.size(), 2);
  const auto n = static_cast<int64_t>(x.size());
  for (const VectorKernels* k : runnable_kernels()) {
    std::vector<float> gelu(x.size()), dgelu(x.size()), tanh(x.size()), dtanh(x.size()), scaled(x.size());
    k->rows.gelu(x.data(), gelu.data(), n);
    k->rows.gelu_backward(dy.data(), x.data(), dgelu.data(), n);
    k->rows.tanh(x.data(), tanh.data(), n);
    k->rows.tanh_backward(dy.data(), tanh.data(), dtanh.data(), n);
    k->rows.scale(x.data(), scaled.data(), n, -1.5f);
    for (size_t i = 0; i < x.size(); ++i) {
      const double v = x[i], share = 0.5 * std::erfc(-v / std::sqrt(2.0));
      const double density = std::exp(-v * v / 2) / std::sqrt(2 * std::acos(-1.0)), t = std::tanh(v);
      EXPECT_NEAR(gelu[i], v * share, 5e-7 * std::max(1.0, std::abs(v))) << k->instruction_set << " at " << v;
      EXPECT_NEAR(dgelu[i], dy[i] * (share + v * density), 2e-6 * std::abs(dy[i])) << k->instruction_set << " at " << v;
      EXPECT_NEAR(tanh[i], t, 1e-6 * std::abs(t)) << k->instruction_set << " at " << v;
      EXPECT_NEAR(dtanh[i], dy[i] * (1 - t * t), 1e-5) << k->instruction_set << " at " << v;
      EXPECT_EQ(scaled[i], x[i] * -1.5f);
    }
  }
}

}  // namespace
}  // namespace gpusizer::cpu
