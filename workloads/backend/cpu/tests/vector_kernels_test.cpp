// SPDX-License-Identifier: Apache-2.0
// Each instruction set's vector kernels against plain loops in double, on shapes that do not fill vectors or threads.
#include "workloads/backend/cpu/tests/runnable_kernels.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace gpusizer::cpu {
namespace {

constexpr auto runnable = runnable_kernels;
constexpr auto noise = [](size_t count, unsigned seed, float centre = 0) { return normal_values(count, seed, centre); };

// An image [batch, channels, spatial] in blocks, zero in the padding.
struct Image {
  BlockedShape shape;
  int lanes;
  std::vector<float> values;

  Image(BlockedShape s, int l, unsigned seed, float centre = 0) : shape(s), lanes(l) {
    values = noise(static_cast<size_t>(s.batch * s.blocks * s.spatial * l), seed, centre);
    for (size_t i = 0; i < values.size(); ++i)
      if (channel(i) >= s.channels) values[i] = 0;
  }
  int64_t channel(size_t i) const {
    const auto at = static_cast<int64_t>(i);
    return at / (shape.spatial * lanes) % shape.blocks * lanes + at % lanes;
  }
};

struct NormCase {
  BlockedShape shape;
  int threads;
  bool residual, relu, second;
};

// Forward and backward of one case; compares with sums taken in double.
void check_norm(const VectorKernels& k, const NormCase& c) {
  SCOPED_TRACE(k.instruction_set);
  const BlockedShape s{c.shape.batch, (c.shape.channels + k.lanes - 1) / k.lanes, c.shape.spatial, c.shape.channels};
  const Image x(s, k.lanes, 1, 3), r(s, k.lanes, 2), dy(s, k.lanes, 3), dy2(s, k.lanes, 4);
  const auto padded = static_cast<size_t>(s.blocks * k.lanes);
  const auto scale = noise(padded, 5, 1), shift = noise(padded, 6);
  std::vector<float> run_mean(padded, 0), run_var(padded, 1), mean(padded), inverse(padded), y(x.values.size());
  std::vector<uint8_t> mask(x.values.size() / 8 + 64);
  std::vector<double> partial(static_cast<size_t>(k.batch_norm_workspace_bytes(s, c.threads)) / 8);
  NormForward f{s, x.values.data(), scale.data(), shift.data()};
  f.residual = c.residual ? r.values.data() : nullptr;
  f.running_mean = run_mean.data(), f.running_variance = run_var.data(), f.y = y.data();
  f.mean = mean.data(), f.inverse_deviation = inverse.data(), f.mask = c.relu ? mask.data() : nullptr;
  f.partial = partial.data(), f.epsilon = 1e-5f, f.momentum = 0.1f, f.relu = c.relu, f.threads = c.threads;
  k.batch_norm_forward(f);

  std::vector<float> dx(x.values.size()), dscale(padded), dshift(padded), dresidual(x.values.size());
  NormBackward b{s, dy.values.data(), c.second ? dy2.values.data() : nullptr, x.values.data(), scale.data()};
  b.mean = mean.data(), b.inverse_deviation = inverse.data(), b.mask = f.mask, b.dx = dx.data();
  b.dscale = dscale.data(), b.dshift = dshift.data(), b.dresidual = c.residual ? dresidual.data() : nullptr;
  b.partial = partial.data(), b.threads = c.threads;
  k.batch_norm_backward(b);

  const double count = static_cast<double>(s.batch * s.spatial);
  for (int64_t ch = 0; ch < s.channels; ++ch) {
    const auto at = static_cast<size_t>(ch);
    double sum = 0, square = 0, sum_g = 0, sum_gx = 0;
    for (size_t i = 0; i < y.size(); ++i)
      if (x.channel(i) == ch) sum += x.values[i];
    const double m = sum / count;
    for (size_t i = 0; i < y.size(); ++i)
      if (x.channel(i) == ch) square += (x.values[i] - m) * (x.values[i] - m);
    const double variance = square / count, inv = 1 / std::sqrt(variance + 1e-5);
    EXPECT_NEAR(run_mean[at], 0.1 * m, 1e-5);
    EXPECT_NEAR(run_var[at], 0.9 + 0.1 * square / (count - 1), 1e-5);
    std::vector<double> g(y.size());
    for (size_t i = 0; i < y.size(); ++i) {
      if (x.channel(i) != ch) continue;
      double v = (x.values[i] - m) * inv * scale[at] + shift[at] + (c.residual ? r.values[i] : 0);
      g[i] = dy.values[i] + (c.second ? dy2.values[i] : 0);
      if (c.relu && std::abs(v) > 1e-4) g[i] = v > 0 ? g[i] : 0;
      if (c.relu && std::abs(v) <= 1e-4) g[i] = y[i] > 0 ? g[i] : 0;  // too close to the kink to tell
      if (c.relu) v = std::max(v, 0.0);
      EXPECT_NEAR(y[i], v, 2e-5 * std::max(1.0, std::abs(v)));
      if (c.residual) { EXPECT_NEAR(dresidual[i], g[i], 1e-6); }
      sum_g += g[i];
      sum_gx += g[i] * (x.values[i] - m) * inv;
    }
    EXPECT_NEAR(dshift[at], sum_g, 1e-4 * std::sqrt(count));
    EXPECT_NEAR(dscale[at], sum_gx, 1e-4 * std::sqrt(count));
    for (size_t i = 0; i < y.size(); ++i)
      if (x.channel(i) == ch) {
        const double want = scale[at] * inv * (g[i] - sum_g / count - (x.values[i] - m) * inv * sum_gx / count);
        EXPECT_NEAR(dx[i], want, 1e-5 * inv * std::max(1.0, std::abs(want)));
      }
  }
  for (size_t i = 0; i < y.size(); ++i)
    if (x.channel(i) >= s.channels) { EXPECT_TRUE(y[i] == 0 && dx[i] == 0) << "the padding of channels must stay zero"; }
}

TEST(VectorKernels, BatchNormAgreesWithSumsInDouble) {
  SKIP_WHERE_BARRIERS_ARE_UNSEEN();
  const NormCase cases[] = {
      {{4, 0, 9, 16}, 1, false, false, false}, {{3, 0, 7, 20}, 2, false, true, false}, {{5, 0, 12, 3}, 2, true, true, true},
      {{6, 0, 1, 40}, 3, true, true, false},   {{8, 0, 5, 17}, 4, false, true, true},  {{1, 0, 33, 64}, 2, true, false, true},
  };
  for (const VectorKernels* k : runnable())
    for (const NormCase& c : cases) check_norm(*k, c);
}

TEST(VectorKernels, BatchNormKeepsItsPrecisionFarFromZero) {
  for (const VectorKernels* k : runnable()) {
    const BlockedShape s{4, 1, 100, k->lanes};
    const Image x(s, k->lanes, 9, 1000);  // mean 1000, deviation 1: a sum of plain squares would lose it
    const auto padded = static_cast<size_t>(k->lanes);
    const std::vector<float> scale(padded, 1), shift(padded, 0);
    std::vector<float> mean(padded), inverse(padded), run_mean(padded), run_var(padded), y(x.values.size());
    std::vector<double> partial(static_cast<size_t>(k->batch_norm_workspace_bytes(s, 1)) / 8);
    NormForward f{s, x.values.data(), scale.data(), shift.data()};
    f.running_mean = run_mean.data(), f.running_variance = run_var.data(), f.y = y.data();
    f.mean = mean.data(), f.inverse_deviation = inverse.data(), f.partial = partial.data();
    f.epsilon = 1e-5f, f.momentum = 1;
    k->batch_norm_forward(f);
    for (int lane = 0; lane < k->lanes; ++lane) {
      double sum = 0, square = 0;
      for (size_t i = 0; i < y.size(); ++i)
        if (x.channel(i) == lane) sum += x.values[i];
      for (size_t i = 0; i < y.size(); ++i)
        if (x.channel(i) == lane) square += std::pow(x.values[i] - sum / 400, 2);
      EXPECT_NEAR(run_var[static_cast<size_t>(lane)], square / 399, 1e-4) << k->instruction_set;
    }
  }
}

TEST(VectorKernels, PointwiseKernelsTakeAnyCount) {
  for (const VectorKernels* k : runnable())
    for (const size_t count : {1u, 7u, 8u, 31u, 100u, 20011u}) {
      const auto a = noise(count, 1), b = noise(count, 2), c = noise(count, 3);
      std::vector<float> y(count), sum(count), clipped(count), dx(count), dx2(count);
      const auto n = static_cast<int64_t>(count);
      k->relu(a.data(), y.data(), n);
      k->add(a.data(), b.data(), sum.data(), n, false);
      k->add(a.data(), b.data(), clipped.data(), n, true);
      k->relu_backward(b.data(), nullptr, y.data(), dx.data(), n);
      k->relu_backward(b.data(), c.data(), y.data(), dx2.data(), n);
      for (size_t i = 0; i < count; ++i) {
        EXPECT_EQ(y[i], std::max(a[i], 0.f));
        EXPECT_EQ(sum[i], a[i] + b[i]);
        EXPECT_EQ(clipped[i], std::max(a[i] + b[i], 0.f));
        EXPECT_EQ(dx[i], a[i] > 0 ? b[i] : 0);
        EXPECT_EQ(dx2[i], a[i] > 0 ? b[i] + c[i] : 0);
      }
    }
}

TEST(VectorKernels, ANaNGoesThroughAReLU) {
  for (const VectorKernels* k : runnable())
    for (const size_t at : {0u, 16u, 18u}) {
      std::vector<float> x(19, -1.f), y(19);
      x[at] = std::nanf("");
      k->relu(x.data(), y.data(), 19);
      EXPECT_TRUE(std::isnan(y[at])) << k->instruction_set << " element " << at;
    }
}

TEST(VectorKernels, SgdAndColumnSums) {
  for (const VectorKernels* k : runnable()) {
    const size_t count = 45;
    const auto w0 = noise(count, 1), g = noise(count, 2), m0 = noise(count, 3);
    auto w = w0, m = m0, plain = w0;
    k->update.sgd({w.data(), g.data(), m.data(), 45, 0.1f, 0.9f, {0.01f}});
    k->update.sgd({plain.data(), g.data(), nullptr, 45, 0.1f, 0, {0.01f}});
    for (size_t i = 0; i < count; ++i) {
      const double step = g[i] + 0.01 * w0[i], momentum = 0.9 * m0[i] + step;
      EXPECT_NEAR(m[i], momentum, 1e-6);
      EXPECT_NEAR(w[i], w0[i] - 0.1 * momentum, 1e-6);
      EXPECT_NEAR(plain[i], w0[i] - 0.1 * step, 1e-6);
    }
    const auto matrix = noise(7 * 37, 4);
    std::vector<float> sums(37);
    k->column_sums(matrix.data(), sums.data(), 7, 37);
    for (size_t c = 0; c < 37; ++c) {
      double want = 0;
      for (size_t r = 0; r < 7; ++r) want += matrix[r * 37 + c];
      EXPECT_NEAR(sums[c], want, 1e-5);
    }
  }
}

}  // namespace
}  // namespace gpusizer::cpu
