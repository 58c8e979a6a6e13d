// SPDX-License-Identifier: Apache-2.0
// Weighted sums, divided at the end.
#include "bench/runner/evaluation_sums.hpp"

namespace gpusizer {

void EvaluationSums::add(const Program& program, const StepResult& result) {
  const auto batch = static_cast<double>(program.batch);
  samples_ += program.batch;
  loss_ += result.loss * batch;
  correct_ += result.correct;
  counts_correct_ = program.correct.index >= 0;
  for (std::size_t i = 0; i < program.outputs.size(); ++i) {
    const double count = result.counts[i];
    if (!(count > 0)) continue;  // a mean over nothing is no number
    Output& output = outputs_[program.outputs[i].name];
    output.sum += program.outputs[i].summed ? result.outputs[i] : result.outputs[i] * count;
    output.count += count;
  }
}

Evaluation EvaluationSums::means() const {
  const auto samples = static_cast<double>(samples_);
  Evaluation means{.loss = loss_ / samples, .samples = samples_};
  if (counts_correct_) means.accuracy = correct_ / samples;
  for (const auto& [name, output] : outputs_) means.outputs[name] = output.sum / output.count;
  return means;
}

}  // namespace gpusizer
