// SPDX-License-Identifier: Apache-2.0
// One LSTM layer over all time steps and its gradient through time; the state starts at zero.
#include <algorithm>
#include <cmath>

#include "workloads/backend/reference/kernels.hpp"

namespace gpusizer::reference {

namespace {

constexpr int64_t input_gate = 0, forget_gate = 1, cell_gate = 2, output_gate = 3, gates = 4;

// Saved, for each row: the four gates after their activation [4 H], the cell [H].
int64_t saved_elements(const Program& p, const Operation& op) {
  const Shape& y = p.tensor(op.outputs[0]).shape;
  return y[0] * (gates + 1) * y[1];
}

struct Sizes {
  int64_t steps, batch, in, hidden;
  Sizes(const Call& call, const View<const double>& x, const View<const double>& w_hh)
      : steps(call.attributes<LstmAttributes>().steps), batch(x.extent(0) / steps), in(x.extent(1)), hidden(w_hh.extent(1)) {}

  int64_t gate(int64_t row, int64_t which, int64_t h) const { return row * (gates + 1) * hidden + which * hidden + h; }
  int64_t cell(int64_t row, int64_t h) const { return gate(row, gates, h); }
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// (x, w_ih, w_hh, b_ih, b_hh): one gate of one row before its activation. Reads the result one step ago.
double gate_sum(const Call& call, const Sizes& s, int64_t row, int64_t k) {
  const auto &x = call.inputs[0], &w_ih = call.inputs[1], &w_hh = call.inputs[2];
  const auto& y = call.outputs[0];
  double sum = call.inputs[3][k] + call.inputs[4][k];
  for (int64_t i = 0; i < s.in; ++i) sum += x[row * s.in + i] * w_ih[k * s.in + i];
  const int64_t before = row - s.batch;
  if (before < 0) return sum;
  for (int64_t h = 0; h < s.hidden; ++h) sum += y[before * s.hidden + h] * w_hh[k * s.hidden + h];
  return sum;
}

// c = f * c_before + i * g;  h = o * tanh(c)
void forward(const Call& call) {
  const Sizes s{call, call.inputs[0], call.inputs[2]};
  const auto &y = call.outputs[0], &saved = call.outputs[1];
  for (int64_t row = 0; row < s.steps * s.batch; ++row)
    for (int64_t h = 0; h < s.hidden; ++h) {
      for (int64_t g = 0; g < gates; ++g) {
        const double sum = gate_sum(call, s, row, g * s.hidden + h);
        saved[s.gate(row, g, h)] = g == cell_gate ? std::tanh(sum) : sigmoid(sum);
      }
      const double cell_before = row < s.batch ? 0 : saved[s.cell(row - s.batch, h)];
      const double cell = saved[s.gate(row, forget_gate, h)] * cell_before +
                          saved[s.gate(row, input_gate, h)] * saved[s.gate(row, cell_gate, h)];
      saved[s.cell(row, h)] = cell;
      y[row * s.hidden + h] = saved[s.gate(row, output_gate, h)] * std::tanh(cell);
    }
}

// The gradients of one row's four gates before their activation. `dh`, `dcell` [batch, H]: what arrives from the step
// after; dcell is left for the step before.
void gate_gradients(const Call& call, const Sizes& s, int64_t row, const std::vector<double>& dh,
                    std::vector<double>& dcell, std::vector<double>& dgates) {
  const auto &dy = call.inputs[0], &saved = call.inputs[5];
  for (int64_t h = 0; h < s.hidden; ++h) {
    const auto at = static_cast<size_t>(row % s.batch * s.hidden + h);
    const double i = saved[s.gate(row, input_gate, h)], f = saved[s.gate(row, forget_gate, h)];
    const double g = saved[s.gate(row, cell_gate, h)], o = saved[s.gate(row, output_gate, h)];
    const double t = std::tanh(saved[s.cell(row, h)]);
    const double cell_before = row < s.batch ? 0 : saved[s.cell(row - s.batch, h)];
    const double dout = dy[row * s.hidden + h] + dh[at];
    const double dc = dcell[at] + dout * o * (1 - t * t);
    const double d[] = {dc * g * i * (1 - i), dc * cell_before * f * (1 - f), dc * i * (1 - g * g), dout * t * o * (1 - o)};
    for (int64_t k = 0; k < gates; ++k) dgates[static_cast<size_t>(k * s.hidden + h)] = d[k];
    dcell[at] = dc * f;
  }
}

// What one row's gates give to the weights, the biases, the input, and the output one step ago (`dh`, replaced).
void spread(const Call& call, const Sizes& s, int64_t row, const std::vector<double>& dgates, std::vector<double>& dh) {
  const auto &x = call.inputs[1], &w_ih = call.inputs[2], &w_hh = call.inputs[3], &y = call.inputs[4];
  const auto &dw_ih = call.outputs[0], &dw_hh = call.outputs[1];
  const auto first = static_cast<size_t>(row % s.batch * s.hidden);
  std::fill_n(dh.begin() + static_cast<ptrdiff_t>(first), s.hidden, 0.0);
  for (int64_t k = 0; k < gates * s.hidden; ++k) {
    const double d = dgates[static_cast<size_t>(k)];
    call.outputs[2][k] += d;
    call.outputs[3][k] += d;
    for (int64_t i = 0; i < s.in; ++i) {
      dw_ih[k * s.in + i] += d * x[row * s.in + i];
      if (call.outputs.size() > 4) call.outputs[4][row * s.in + i] += d * w_ih[k * s.in + i];
    }
    if (row < s.batch) continue;
    for (int64_t h = 0; h < s.hidden; ++h) {
      dw_hh[k * s.hidden + h] += d * y[(row - s.batch) * s.hidden + h];
      dh[first + static_cast<size_t>(h)] += d * w_hh[k * s.hidden + h];
    }
  }
}

// (dy, x, w_ih, w_hh, y, saved) -> dw_ih, dw_hh, db_ih, db_hh [, dx]
void backward(const Call& call) {
  const Sizes s{call, call.inputs[1], call.inputs[3]};
  for (const auto& output : call.outputs) std::ranges::fill(output.values, 0.0);
  const auto state = static_cast<size_t>(s.batch * s.hidden);
  std::vector<double> dh(state, 0), dcell(state, 0), dgates(static_cast<size_t>(gates * s.hidden));
  for (int64_t row = s.steps * s.batch; row-- > 0;) {
    gate_gradients(call, s, row, dh, dcell, dgates);
    spread(call, s, row, dgates, dh);
  }
}

constexpr Kernel table[] = {
    {OpKind::lstm, forward, saved_elements},
    {OpKind::lstm_backward, backward},
};

}  // namespace

std::span<const Kernel> recurrent() { return table; }

}  // namespace gpusizer::reference
