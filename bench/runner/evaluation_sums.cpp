// SPDX-License-Identifier: Apache-2.0
// Weighted sums, divided at the end.
#include "bench/runner/evaluation_sums.hpp"

#include <fmt/format.h>

#include <sstream>

#include "gpusizer/error.hpp"

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

std::string EvaluationSums::text() const {
  std::string text = fmt::format("{} {} {} {}", loss_, correct_, counts_correct_ ? 1 : 0, samples_);
  for (const auto& [name, output] : outputs_) text += fmt::format(" {} {} {}", name, output.sum, output.count);
  return text;
}

void EvaluationSums::add_text(const std::string& text) {
  std::istringstream words(text);
  // Streams do not read "nan", which a loss may be.
  const auto number = [&] {
    std::string word;
    if (!(words >> word)) throw Error(Fault::failed, "a rank's evaluation came in pieces", text);
    return std::stod(word);
  };
  loss_ += number();
  correct_ += number();
  if (number() > 0) counts_correct_ = true;
  samples_ += static_cast<std::int64_t>(number());
  for (std::string name; words >> name;) {
    Output& output = outputs_[name];
    output.sum += number();
    output.count += number();
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
