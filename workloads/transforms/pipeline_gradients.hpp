// SPDX-License-Identifier: Apache-2.0
// Taking the sum that a parameter's gradient is apart, where its addends are made on different stages.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "workloads/program/autodiff.hpp"
#include "workloads/transforms/pipeline_places.hpp"

namespace gpusizer {

struct SpreadGradients {
  std::map<TensorId, std::vector<int32_t>> stages;  // by parameter with addends on several stages: those stages
  std::set<int32_t> sums;  // the adds of their sums: rebuilt on each stage from its own addends
};

// Throws Error(usage) for a parameter that a stage reads without having a share in its gradient.
SpreadGradients spread_gradients(const Differentiated& step, const std::vector<PipelinePlace>& places);

}  // namespace gpusizer
