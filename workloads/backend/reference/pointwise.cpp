// SPDX-License-Identifier: Apache-2.0
// Operations that look at one element at a time: ReLU, add, dropout, and their gradients.
#include "workloads/backend/reference/kernels.hpp"
#include "workloads/program/dropout_mask.hpp"

namespace gpusizer::reference {

namespace {

// ReLU and dropout keep one value for each of their results: the mask, or the factor.
int64_t one_each(const Program& p, const Operation& op) { return element_count(p.tensor(op.inputs[0]).shape); }

// Not max(x, 0): a NaN must stay one, or a diverged training would look well.
double clip(double x) { return x < 0 ? 0 : x; }

// x -> y, saved: 1 where the value came through
void relu(const Call& call) {
  const auto& x = call.inputs[0];
  for (int64_t i = 0; i < x.size(); ++i) {
    call.outputs[0][i] = clip(x[i]);
    call.outputs[1][i] = x[i] > 0;
  }
}

// (dy..., saved or y) -> dx. Both are positive exactly where the value came through.
void relu_backward(const Call& call) {
  const auto& dx = call.outputs[0];
  const int gradients = call.attributes<ReluAttributes>().gradients;
  for (int64_t i = 0; i < dx.size(); ++i) {
    double sum = 0;
    for (int g = 0; g < gradients; ++g) sum += call.inputs[static_cast<size_t>(g)][i];
    dx[i] = call.inputs.back()[i] > 0 ? sum : 0;
  }
}

// (a, b) -> a + b, or relu(a + b) and saved
void add(const Call& call) {
  const bool relu = call.attributes<AddAttributes>().relu;
  const auto& y = call.outputs[0];
  for (int64_t i = 0; i < y.size(); ++i) {
    const double sum = call.inputs[0][i] + call.inputs[1][i];
    y[i] = relu ? clip(sum) : sum;
    if (relu) call.outputs[1][i] = sum > 0;
  }
}

// (x, random_state) -> y, saved: the factor of each element
void dropout(const Call& call) {
  const auto& a = call.attributes<DropoutAttributes>();
  const auto &x = call.inputs[0], &state = call.inputs[1];
  const auto word = [&](int64_t i) { return static_cast<uint32_t>(static_cast<int64_t>(state[i])); };
  const uint32_t seed = word(0), step = word(1), threshold = dropout_mask::threshold(a.rate);
  for (int64_t i = 0; i < x.size(); i += 4) {
    const auto words = dropout_mask::words(static_cast<uint64_t>(i / 4), seed, step, a.stream);
    for (int64_t j = i; j < x.size() && j < i + 4; ++j) {
      const bool kept = dropout_mask::keep(words[static_cast<size_t>(j - i)], threshold);
      call.outputs[1][j] = kept ? dropout_mask::scale(a.rate) : 0;
      call.outputs[0][j] = x[j] * call.outputs[1][j];
    }
  }
}

// (dy, saved) -> dx
void dropout_backward(const Call& call) {
  for (int64_t i = 0; i < call.outputs[0].size(); ++i) call.outputs[0][i] = call.inputs[0][i] * call.inputs[1][i];
}

constexpr Kernel table[] = {
    {OpKind::relu, relu, one_each},
    {OpKind::relu_backward, relu_backward},
    {OpKind::add, add, one_each},
    {OpKind::dropout, dropout, one_each},
    {OpKind::dropout_backward, dropout_backward},
};

}  // namespace

std::span<const Kernel> pointwise() { return table; }

}  // namespace gpusizer::reference
