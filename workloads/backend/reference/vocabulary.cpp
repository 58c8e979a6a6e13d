// SPDX-License-Identifier: Apache-2.0
// Softmax cross-entropy over a vocabulary of which each rank has its own part of the logits (Shoeybi et al., 2019).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "gpusizer/error.hpp"
#include "workloads/backend/reference/kernels.hpp"

namespace gpusizer::reference {

namespace {

bool is_ignored(const VocabularyAttributes& a, double label) { return a.loss.ignore_negative && label < 0; }

// (logits [N, K], labels) -> [numbers, N]: see rules/vocabulary.cpp
void part(const Call& call) {
  const auto& a = call.attributes<VocabularyAttributes>();
  const auto& out = call.outputs[0];
  const int64_t rows = call.inputs[0].extent(0), words = call.inputs[0].extent(1);
  for (int64_t n = 0; n < rows; ++n) {
    const auto x = call.inputs[0].values.subspan(static_cast<size_t>(n * words), static_cast<size_t>(words));
    const auto largest = std::ranges::max_element(x);
    double sum = 0, total = 0;
    for (const double value : x) {
      sum += std::exp(value - *largest);
      total += value - *largest;
    }
    const double place = call.inputs[1][n] - static_cast<double>(a.first);
    const bool here = place >= 0 && place < static_cast<double>(words);
    out[n] = *largest;
    out[rows + n] = sum;
    out[2 * rows + n] = here ? x[static_cast<size_t>(place)] : -std::numeric_limits<double>::infinity();
    out[3 * rows + n] = static_cast<double>(a.first + (largest - x.begin()));
    if (a.loss.label_smoothing > 0) out[4 * rows + n] = total;
  }
}

// What all parts say of one row.
struct Row {
  double largest = -std::numeric_limits<double>::infinity(), place = 0, sum = 0, total = 0;
  double label = -std::numeric_limits<double>::infinity();
};

Row joined(const Call& call, int64_t n) {
  const int64_t rows = call.inputs[0].extent(0), words = call.inputs[0].extent(1);
  const auto& parts = call.inputs[1];
  const bool smoothing = call.attributes<VocabularyAttributes>().loss.label_smoothing > 0;
  const int64_t each = (smoothing ? 5 : 4) * rows;
  Row row;
  for (int64_t p = 0; p < parts.size(); p += each) {
    if (parts[p + n] > row.largest) {
      row.largest = parts[p + n];
      row.place = parts[p + 3 * rows + n];
    }
    row.label = std::max(row.label, parts[p + 2 * rows + n]);
  }
  for (int64_t p = 0; p < parts.size(); p += each) {
    const double down = parts[p + n] - row.largest;
    row.sum += std::exp(down) * parts[p + rows + n];
    if (smoothing) row.total += parts[p + 4 * rows + n] + down * static_cast<double>(words);
  }
  return row;
}

// Saved: each row's largest logit and sum of exponentials, how many rows count, and how many words there are.
int64_t saved_elements(const Program& p, const Operation& op) { return 2 * p.tensor(op.inputs[0]).shape[0] + 2; }

double word_count(const Call& call) {
  const auto& parts = call.inputs[1];
  const double ranks = parts.shape->size() == 3 ? static_cast<double>(parts.extent(0)) : 1;
  return ranks * static_cast<double>(call.inputs[0].extent(1));
}

// (logits, parts, labels) -> loss, correct, saved [, count]. Of no samples at all the mean loss is 0.
void loss(const Call& call) {
  const auto& a = call.attributes<VocabularyAttributes>();
  const auto& saved = call.outputs[2];
  const int64_t rows = call.inputs[0].extent(0);
  const double words = word_count(call), smoothing = a.loss.label_smoothing;
  double total = 0, correct = 0, counted = 0;
  for (int64_t n = 0; n < rows; ++n) {
    const double label = call.inputs[2][n];
    const Row row = joined(call, n);
    saved[2 * n] = row.largest;
    saved[2 * n + 1] = row.sum;
    if (is_ignored(a, label)) continue;
    if (!(label >= 0 && label < words))
      throw Error(Fault::input, fmt::format("label {} of sample {} is not one of the {} classes", label, n, words),
                  call.operation->layer, "labels count from 0; give the model as many classes as the data has");
    total += std::log(row.sum) - (1 - smoothing) * (row.label - row.largest);
    if (smoothing > 0) total -= smoothing * row.total / words;
    correct += row.place == label;
    ++counted;
  }
  call.outputs[0][0] = counted > 0 ? total / counted : 0;
  call.outputs[1][0] = correct;
  saved[2 * rows] = counted;
  saved[2 * rows + 1] = words;
  if (call.outputs.size() > 3) call.outputs[3][0] = counted;
}

// (d loss, labels, saved, logits) -> d logits
void loss_backward(const Call& call) {
  const auto& a = call.attributes<VocabularyAttributes>();
  const auto &saved = call.inputs[2], &logits = call.inputs[3];
  const auto& dx = call.outputs[0];
  const int64_t rows = logits.extent(0), words = logits.extent(1);
  const double each = call.inputs[0][0] / saved[2 * rows], everywhere = a.loss.label_smoothing / saved[2 * rows + 1];
  for (int64_t i = 0; i < dx.size(); ++i) {
    const int64_t n = i / words, word = a.first + i % words;
    const double label = call.inputs[1][n];
    const double share = (static_cast<double>(word) == label ? 1 - a.loss.label_smoothing : 0) + everywhere;
    dx[i] = is_ignored(a, label) ? 0 : each * (std::exp(logits[i] - saved[2 * n]) / saved[2 * n + 1] - share);
  }
}

constexpr Kernel table[] = {
    {OpKind::vocabulary_loss_part, part},
    {OpKind::vocabulary_loss, loss, saved_elements},
    {OpKind::vocabulary_loss_backward, loss_backward},
};

}  // namespace

std::span<const Kernel> vocabulary() { return table; }

}  // namespace gpusizer::reference
