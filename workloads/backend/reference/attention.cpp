// SPDX-License-Identifier: Apache-2.0
// Self-attention (Vaswani et al., "Attention is all you need", 2017) with padding, dropout of probabilities; its gradient.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gpusizer/error.hpp"
#include "workloads/backend/reference/kernels.hpp"
#include "workloads/program/dropout_mask.hpp"

namespace gpusizer::reference {

namespace {

// [batch, heads, sequence, sequence]
int64_t probability_count(const Shape& qkv, const AttentionAttributes& a) { return qkv[0] * a.heads * a.sequence; }

// Saved: the probabilities, then each one's factor of dropout.
int64_t saved_elements(const Program& p, const Operation& op) {
  return 2 * probability_count(p.tensor(op.inputs[0]).shape, std::get<AttentionAttributes>(op.attributes));
}

// Where the parts of one head of one sequence lie in qkv and in the context, in elements.
struct Head {
  int64_t sequence, size, hidden;  // tokens, values of a head, values of all heads
  int64_t first_row, first_column, first_probability;
  int64_t length;  // keys that are looked at

  int64_t query(int64_t token) const { return (first_row + token) * 3 * hidden + first_column; }
  int64_t key(int64_t token) const { return query(token) + hidden; }
  int64_t value(int64_t token) const { return query(token) + 2 * hidden; }
  int64_t context(int64_t token) const { return (first_row + token) * hidden + first_column; }
  int64_t probability(int64_t of, int64_t at) const { return first_probability + of * sequence + at; }
  double scale() const { return 1 / std::sqrt(static_cast<double>(size)); }
};

int64_t checked_length(const Call& call, const View<const double>& lengths, int64_t sample, int64_t sequence) {
  const double length = lengths[sample];
  if (!(length >= 1 && length <= static_cast<double>(sequence)))
    throw Error(Fault::input, fmt::format("length {} of sample {} is not from 1 to {}", length, sample, sequence),
                call.operation->layer, "a sequence has at least one real token and no more than the program's");
  return static_cast<int64_t>(length);
}

// Calls visit(head) for each head of each sequence. `lengths` is the number of that input, looked at where there is a mask.
template <class Visit>
void for_each_head(const Call& call, const Shape& qkv, size_t lengths, Visit visit) {
  const auto& a = call.attributes<AttentionAttributes>();
  const int64_t hidden = qkv[1] / 3, size = hidden / a.heads;
  for (int64_t n = 0; n < qkv[0] / a.sequence; ++n) {
    const int64_t length = a.masked ? checked_length(call, call.inputs[lengths], n, a.sequence) : a.sequence;
    for (int64_t h = 0; h < a.heads; ++h)
      visit(Head{a.sequence, size, hidden, n * a.sequence, h * size, (n * a.heads + h) * a.sequence * a.sequence, length});
  }
}

double product(const View<const double>& a, int64_t at_a, const View<const double>& b, int64_t at_b, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += a[at_a + i] * b[at_b + i];
  return sum;
}

// The factors of dropout behind the probabilities: 1 without it. Words are counted through all heads, here or not.
void draw_factors(const Call& call, int64_t count) {
  const auto& a = call.attributes<AttentionAttributes>();
  const auto factors = call.outputs[1].values.subspan(static_cast<size_t>(count));
  std::ranges::fill(factors, 1.0);
  if (a.rate == 0) return;
  const auto& state = call.inputs.back();
  const auto word = [&](int64_t i) { return static_cast<uint32_t>(static_cast<int64_t>(state[i])); };
  const uint32_t threshold = dropout_mask::threshold(a.rate);
  const auto each = static_cast<uint64_t>(a.heads * a.sequence * a.sequence);  // probabilities of a sequence's heads
  const auto all_heads = static_cast<uint64_t>(a.all_heads > 0 ? a.all_heads : a.heads);
  const uint64_t first = static_cast<uint64_t>(a.first_head * a.sequence * a.sequence);
  for (uint64_t i = 0; i < factors.size(); ++i) {
    const uint64_t at = i / each * (each / static_cast<uint64_t>(a.heads) * all_heads) + first + i % each;
    const auto words = dropout_mask::words(at / 4, word(0), word(1), a.stream);
    factors[i] = dropout_mask::keep(words[at % 4], threshold) ? dropout_mask::scale(a.rate) : 0;
  }
}

// The probabilities with which one token looks at the keys, in place of its scores; keys beyond the length get 0.
void softmax(std::span<double> row, int64_t length) {
  const auto seen = row.first(static_cast<size_t>(length));
  const double maximum = *std::ranges::max_element(seen);
  double sum = 0;
  for (double& v : seen) sum += v = std::exp(v - maximum);
  for (double& v : seen) v /= sum;
  std::ranges::fill(row.subspan(static_cast<size_t>(length)), 0.0);
}

// (qkv [, lengths] [, random_state]) -> context, saved
void forward(const Call& call) {
  const auto& qkv = call.inputs[0];
  const auto &context = call.outputs[0], &saved = call.outputs[1];
  const int64_t count = probability_count(*qkv.shape, call.attributes<AttentionAttributes>());
  draw_factors(call, count);
  for_each_head(call, *qkv.shape, 1, [&](const Head& head) {
    for (int64_t i = 0; i < head.sequence; ++i) {
      for (int64_t j = 0; j < head.length; ++j)
        saved[head.probability(i, j)] = head.scale() * product(qkv, head.query(i), qkv, head.key(j), head.size);
      const auto from = static_cast<size_t>(head.probability(i, 0));
      softmax(saved.values.subspan(from, static_cast<size_t>(head.sequence)), head.length);
      for (int64_t d = 0; d < head.size; ++d) {
        double sum = 0;
        for (int64_t j = 0; j < head.length; ++j) {
          const int64_t at = head.probability(i, j);
          sum += saved[at] * saved[count + at] * qkv[head.value(j) + d];
        }
        context[head.context(i) + d] = sum;
      }
    }
  });
}

// One query's share of the gradients: of its scores, and through them of q, k and v.
void token_backward(const Head& head, int64_t i, int64_t count, const Call& call, std::vector<double>& dp) {
  const auto &dy = call.inputs[0], &qkv = call.inputs[1], &saved = call.inputs[3];
  const auto& dqkv = call.outputs[0];
  double expected = 0;  // sum of p * dp: what the softmax's normalisation takes off
  for (int64_t j = 0; j < head.length; ++j) {
    const int64_t at = head.probability(i, j);
    dp[static_cast<size_t>(j)] = saved[count + at] * product(dy, head.context(i), qkv, head.value(j), head.size);
    expected += saved[at] * dp[static_cast<size_t>(j)];
  }
  for (int64_t j = 0; j < head.length; ++j) {
    const int64_t at = head.probability(i, j);
    const double dscore = head.scale() * saved[at] * (dp[static_cast<size_t>(j)] - expected);
    for (int64_t d = 0; d < head.size; ++d) {
      dqkv[head.query(i) + d] += dscore * qkv[head.key(j) + d];
      dqkv[head.key(j) + d] += dscore * qkv[head.query(i) + d];
      dqkv[head.value(j) + d] += saved[at] * saved[count + at] * dy[head.context(i) + d];
    }
  }
}

// (dcontext, qkv, context, saved [, lengths]) -> dqkv
void backward(const Call& call) {
  const auto& a = call.attributes<AttentionAttributes>();
  const int64_t count = probability_count(*call.inputs[1].shape, a);
  std::ranges::fill(call.outputs[0].values, 0.0);
  std::vector<double> dp(static_cast<size_t>(a.sequence));
  for_each_head(call, *call.inputs[1].shape, 4, [&](const Head& head) {
    for (int64_t i = 0; i < head.sequence; ++i) token_backward(head, i, count, call, dp);
  });
}

constexpr Kernel table[] = {
    {OpKind::attention, forward, saved_elements},
    {OpKind::attention_backward, backward},
};

}  // namespace

std::span<const Kernel> attention() { return table; }

}  // namespace gpusizer::reference
