// SPDX-License-Identifier: Apache-2.0
// The forms in which one model is served: as trained, pruned, in another precision; each with programs and weights.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/runner/forward_programs.hpp"
#include "workloads/transforms/pruning.hpp"

namespace gpusizer {

struct InferenceForm {
  std::string name;       // "fp32", "pruned", "int8", "pruned int8"
  std::string precision;  // "fp32", "int8", ...
  ForwardPrograms programs;
  TensorValues values;
  std::optional<Pruned> pruned;
  std::optional<double> integer_share;  // of the multiply-accumulates
  std::optional<std::int64_t> calibration_samples;
};

// Made one after the other, because each holds its weights.
class InferenceForms {
 public:
  InferenceForms(const PreparedCase& prepared, TensorValues weights);

  // FP32 as trained first, whatever was asked for: the others are compared with it.
  std::vector<std::string> names() const;
  // Calibrates where the form needs it. Throws as the transforms do.
  InferenceForm make(const std::string& name) const;

 private:
  InferenceForm with_weights(const std::string& name) const;
  void make_integers(InferenceForm& form) const;

  const PreparedCase& prepared_;
  ForwardPrograms programs_;
  TensorValues weights_;
};

}  // namespace gpusizer
