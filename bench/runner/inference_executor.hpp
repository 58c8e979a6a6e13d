// SPDX-License-Identifier: Apache-2.0
// Compiled forward programs with their weights: runs batches and evaluates test sets.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "bench/runner/forward_programs.hpp"

namespace gpusizer {

// One batch in memory that stays where it is.
struct BatchView {
  std::int64_t bucket = 0, samples = 0;
  std::vector<std::pair<std::string, const void*>> fields;
};

class InferenceExecutor {
 public:
  // `values` must have every persistent tensor of the programs; `prepared` must outlive this. Throws OutOfMemory when
  // the programs do not fit.
  InferenceExecutor(const PreparedCase& prepared, const ForwardPrograms& programs, const TensorValues& values);

  // Throws Error(usage) for a bucket and a number of samples that there is no program for.
  StepResult run(const BatchView& batch);
  bool has_program_for(std::int64_t bucket, std::int64_t samples) const { return find(bucket, samples) >= 0; }

  // Every sample of the test set once. Not complete when `stop` says so.
  Evaluation evaluate(const std::function<int()>& stop);

  std::vector<float> read(const std::string& tensor, std::size_t elements);
  // Of the weights and what else stays between requests, as they lie in memory; and with what a request needs.
  std::int64_t weight_bytes() const { return weight_bytes_; }
  std::int64_t planned_bytes() const { return planned_bytes_; }

 private:
  int find(std::int64_t bucket, std::int64_t samples) const;
  void write(const TensorValues& values);

  const PreparedCase& prepared_;
  std::vector<std::pair<std::int64_t, std::int64_t>> made_for_;  // by program: bucket, samples
  std::unique_ptr<Executor> executor_;
  std::int64_t weight_bytes_ = 0, planned_bytes_ = 0;
};

}  // namespace gpusizer
