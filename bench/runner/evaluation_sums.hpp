// SPDX-License-Identifier: Apache-2.0
// From the results of the batches of a test set to its means.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "bench/runner/measuring_loop.hpp"
#include "workloads/backend/backend.hpp"

namespace gpusizer {

class EvaluationSums {
 public:
  // One run of an evaluation program.
  void add(const Program& program, const StepResult& result);

  // What another rank summed, as its text(), which gives every number back as it was. Throws Error(failed).
  void add_text(const std::string& text);
  std::string text() const;

  // Loss and accuracy by samples; each output by what it is counted over (words, samples), which differs from batch to
  // batch. Call after at least one add().
  Evaluation means() const;

 private:
  struct Output {
    double sum = 0, count = 0;
  };
  double loss_ = 0, correct_ = 0;
  bool counts_correct_ = false;
  std::int64_t samples_ = 0;
  std::map<std::string, Output> outputs_;
};

}  // namespace gpusizer
