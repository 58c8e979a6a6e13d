// SPDX-License-Identifier: Apache-2.0
// Softmax cross-entropy with label smoothing (Szegedy et al. 2015), averaged over the samples, and its gradient.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gpusizer/error.hpp"
#include "workloads/backend/reference/kernels.hpp"

namespace gpusizer::reference {

namespace {

// Saved: the probabilities [N, K], then how many samples count.
int64_t saved_elements(const Program& p, const Operation& op) { return element_count(p.tensor(op.inputs[0]).shape) + 1; }

bool is_ignored(const Call& call, double label) { return call.attributes<LossAttributes>().ignore_negative && label < 0; }

// The share of class k in what sample's distribution should be: 1 - s for the label, and s spread over all classes.
double target_share(int64_t k, int64_t label, int64_t classes, double smoothing) {
  return (k == label ? 1 - smoothing : 0) + smoothing / static_cast<double>(classes);
}

int64_t checked_label(const Call& call, int64_t n, int64_t classes) {
  const double label = call.inputs[1][n];
  if (!(label >= 0 && label < static_cast<double>(classes)))
    throw Error(Fault::input, fmt::format("label {} of sample {} is not one of the {} classes", label, n, classes),
                call.operation->layer, "labels count from 0; give the model as many classes as the data has");
  return static_cast<int64_t>(label);
}

// Cross-entropy of one sample; writes its probabilities. The maximum is taken off so that nothing overflows.
double sample_loss(std::span<const double> logits, std::span<double> probabilities, int64_t label, double smoothing) {
  const double maximum = *std::ranges::max_element(logits);
  const auto classes = static_cast<int64_t>(logits.size());
  double sum = 0;
  for (const double z : logits) sum += std::exp(z - maximum);
  const double log_sum = std::log(sum);
  double loss = 0;
  for (int64_t k = 0; k < classes; ++k) {
    const double log_probability = logits[static_cast<size_t>(k)] - maximum - log_sum;
    probabilities[static_cast<size_t>(k)] = std::exp(log_probability);
    const double share = target_share(k, label, classes, smoothing);
    if (share > 0) loss -= share * log_probability;  // 0 times an infinite logarithm is nothing, not NaN
  }
  return loss;
}

// (logits [N, K], labels [N]) -> loss, correct, saved [, count]. Of no samples at all the mean loss is 0.
void forward(const Call& call) {
  const int64_t batch = call.inputs[0].extent(0), classes = call.inputs[0].extent(1);
  const double smoothing = call.attributes<LossAttributes>().label_smoothing;
  double total = 0, correct = 0, counted = 0;
  for (int64_t n = 0; n < batch; ++n) {
    const auto from = static_cast<size_t>(n * classes), count = static_cast<size_t>(classes);
    const auto probabilities = call.outputs[2].values.subspan(from, count);
    if (is_ignored(call, call.inputs[1][n])) {
      std::ranges::fill(probabilities, 0.0);
      continue;
    }
    const int64_t label = checked_label(call, n, classes);
    const auto logits = call.inputs[0].values.subspan(from, count);
    total += sample_loss(logits, probabilities, label, smoothing);
    correct += std::ranges::max_element(logits) - logits.begin() == label;
    ++counted;
  }
  call.outputs[0][0] = counted > 0 ? total / counted : 0;
  call.outputs[1][0] = correct;
  call.outputs[2].values.back() = counted;
  if (call.outputs.size() > 3) call.outputs[3][0] = counted;
}

// (d loss, labels, saved, logits' shape) -> d logits
void backward(const Call& call) {
  const auto& dx = call.outputs[0];
  const int64_t classes = dx.extent(1);
  const double smoothing = call.attributes<LossAttributes>().label_smoothing, counted = call.inputs[2].values.back();
  for (int64_t i = 0; i < dx.size(); ++i) {
    const double label = call.inputs[1][i / classes];
    const double share = target_share(i % classes, static_cast<int64_t>(label), classes, smoothing);
    dx[i] = is_ignored(call, label) ? 0 : call.inputs[0][0] * (call.inputs[2][i] - share) / counted;
  }
}

constexpr Kernel table[] = {
    {OpKind::softmax_cross_entropy, forward, saved_elements},
    {OpKind::softmax_cross_entropy_backward, backward},
};

}  // namespace

std::span<const Kernel> loss() { return table; }

}  // namespace gpusizer::reference
