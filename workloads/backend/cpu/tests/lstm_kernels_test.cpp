// SPDX-License-Identifier: Apache-2.0
// Each instruction set's LSTM recurrence against plain loops in double, on shapes that fill neither vectors nor threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "workloads/backend/cpu/tests/runnable_kernels.hpp"

namespace gpusizer::cpu {
namespace {

double logistic_of(double x) { return 1 / (1 + std::exp(-x)); }

struct LstmCase {
  LstmShape s;
  size_t steps, batch, in, hidden;
  std::vector<float> x, weight_ih, weight_hh, bias_ih, bias_hh, dy;

  explicit LstmCase(const LstmShape& shape)
      : s(shape), steps(static_cast<size_t>(s.steps)), batch(static_cast<size_t>(s.batch)),
        in(static_cast<size_t>(s.in)), hidden(static_cast<size_t>(s.hidden)), x(normal_values(steps * batch * in, 1)),
        weight_ih(normal_values(4 * hidden * in, 2)), weight_hh(normal_values(4 * hidden * hidden, 3)), bias_ih(normal_values(4 * hidden, 4)),
        bias_hh(normal_values(4 * hidden, 5)), dy(normal_values(steps * batch * hidden, 6)) {
    for (float& w : weight_hh) w *= 0.3f / std::sqrt(static_cast<float>(hidden));
    for (float& w : weight_ih) w *= 0.3f;
  }
};

// Gates [rows, 4 H] and cells, outputs [rows, H] after the forward; gradients of the gates' sums after the backward.
template <typename T>
struct LstmResult {
  std::vector<T> gates, cell, y, dgates;
};

LstmResult<double> plain_forward(const LstmCase& c) {
  const size_t rows = c.steps * c.batch, h = c.hidden;
  LstmResult<double> r{std::vector<double>(rows * 4 * h), std::vector<double>(rows * h), std::vector<double>(rows * h), {}};
  for (size_t row = 0; row < rows; ++row)
    for (size_t unit = 0; unit < h; ++unit) {
      double* gate[4];
      for (size_t g = 0; g < 4; ++g) {
        const size_t k = g * h + unit;
        double sum = double{c.bias_ih[k]} + double{c.bias_hh[k]};
        for (size_t i = 0; i < c.in; ++i) sum += double{c.x[row * c.in + i]} * c.weight_ih[k * c.in + i];
        for (size_t i = 0; row >= c.batch && i < h; ++i) sum += r.y[(row - c.batch) * h + i] * c.weight_hh[k * h + i];
        gate[g] = &r.gates[row * 4 * h + k];
        *gate[g] = g == 2 ? std::tanh(sum) : logistic_of(sum);
      }
      const double before = row >= c.batch ? r.cell[(row - c.batch) * h + unit] : 0;
      const double cell = *gate[1] * before + *gate[0] * *gate[2];
      r.cell[row * h + unit] = cell;
      r.y[row * h + unit] = *gate[3] * std::tanh(cell);
    }
  return r;
}

void plain_backward(const LstmCase& c, LstmResult<double>& r) {
  const size_t rows = c.steps * c.batch, h = c.hidden;
  std::vector<double> carried(c.batch * h, 0);
  r.dgates.resize(rows * 4 * h);
  for (size_t row = rows; row-- > 0;)
    for (size_t unit = 0; unit < h; ++unit) {
      const double* gate = &r.gates[row * 4 * h + unit];
      const double in = gate[0], forget = gate[h], update = gate[2 * h], out = gate[3 * h];
      const double squashed = std::tanh(r.cell[row * h + unit]);
      const double before = row >= c.batch ? r.cell[(row - c.batch) * h + unit] : 0;
      double dy = c.dy[row * h + unit];
      for (size_t k = 0; row + c.batch < rows && k < 4 * h; ++k)
        dy += r.dgates[(row + c.batch) * 4 * h + k] * c.weight_hh[k * h + unit];
      double& dcell = carried[row % c.batch * h + unit];
      const double dc = dcell + dy * out * (1 - squashed * squashed);
      double* d = &r.dgates[row * 4 * h + unit];
      d[0] = dc * update * in * (1 - in);
      d[h] = dc * before * forget * (1 - forget);
      d[2 * h] = dc * in * (1 - update * update);
      d[3 * h] = dy * squashed * out * (1 - out);
      dcell = dc * forget;
    }
}

LstmResult<float> run(const LstmKernels& k, const LstmCase& c) {
  const size_t rows = c.steps * c.batch, h = c.hidden;
  std::vector<float> packed(static_cast<size_t>(k.packed_floats(c.s))), dcell(c.batch * h, NAN);
  LstmResult<float> r{std::vector<float>(rows * 4 * h), std::vector<float>(rows * h), std::vector<float>(rows * h), {}};
  k.forward({c.s, c.x.data(), c.weight_ih.data(), c.weight_hh.data(), c.bias_ih.data(), c.bias_hh.data(), r.gates.data(),
             r.cell.data(), r.y.data(), packed.data()});
  r.dgates = r.gates;
  k.backward({c.s, c.dy.data(), c.weight_hh.data(), r.cell.data(), r.dgates.data(), dcell.data(), packed.data()});
  return r;
}

void expect_near(const std::vector<float>& got, const std::vector<double>& wanted, const char* what) {
  double worst = 0;
  for (size_t i = 0; i < got.size(); ++i) worst = std::max(worst, std::isnan(got[i]) ? 1.0 : std::abs(got[i] - wanted[i]));
  EXPECT_LT(worst, 2e-6) << what;
}

constexpr LstmShape shapes[] = {{3, 1, 1, 1, 1},   {4, 7, 5, 19, 2},  {5, 13, 3, 64, 3},
                                {3, 2, 16, 33, 2}, {2, 29, 2, 80, 4}, {1, 4, 3, 8, 2}};

TEST(LstmKernels, AgreeWithPlainLoops) {
  SKIP_WHERE_BARRIERS_ARE_UNSEEN();
  for (const LstmShape& shape : shapes) {
    const LstmCase c(shape);
    LstmResult<double> wanted = plain_forward(c);
    plain_backward(c, wanted);
    for (const VectorKernels* k : runnable_kernels()) {
      SCOPED_TRACE(k->instruction_set);
      const LstmResult<float> got = run(k->lstm, c);
      expect_near(got.gates, wanted.gates, "gates");
      expect_near(got.cell, wanted.cell, "cell");
      expect_near(got.y, wanted.y, "y");
      expect_near(got.dgates, wanted.dgates, "gradients of the gates");
    }
  }
}

TEST(LstmKernels, TheNumberOfThreadsChangesNothing) {
  SKIP_WHERE_BARRIERS_ARE_UNSEEN();
  for (const VectorKernels* k : runnable_kernels())
    for (LstmShape shape : shapes) {
      shape.threads = 1;
      const LstmResult<float> one = run(k->lstm, LstmCase(shape));
      for (const int threads : {2, 3, 8}) {
        shape.threads = threads;
        const LstmResult<float> several = run(k->lstm, LstmCase(shape));
        EXPECT_EQ(several.y, one.y) << k->instruction_set << ", " << threads << " threads";
        EXPECT_EQ(several.dgates, one.dgates) << k->instruction_set << ", " << threads << " threads";
      }
    }
}

}  // namespace
}  // namespace gpusizer::cpu
