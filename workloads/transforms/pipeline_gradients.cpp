// SPDX-License-Identifier: Apache-2.0
// Follows a gradient's sum down to its addends.
#include "workloads/transforms/pipeline_gradients.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gpusizer/error.hpp"

namespace gpusizer {

namespace {

struct Addends {
  std::set<int32_t> sums;    // adds
  std::set<int32_t> stages;  // of what they add up
};

void follow(const Program& p, const std::vector<int32_t>& made_by, const std::vector<PipelinePlace>& places,
            TensorId id, Addends& found) {
  const int32_t writer = made_by[static_cast<size_t>(id.index)];
  if (writer < 0) return;
  const Operation& op = p.operations[static_cast<size_t>(writer)];
  if (op.kind != OpKind::add || op.forward_op >= 0) {
    found.stages.insert(places[static_cast<size_t>(writer)].stage);
    return;
  }
  found.sums.insert(writer);
  for (const TensorId addend : op.inputs) follow(p, made_by, places, addend, found);
}

// Stages with an operation that reads the parameter, or a cast of it.
std::set<int32_t> reading_stages(const Program& p, const std::vector<PipelinePlace>& places, TensorId parameter) {
  std::set<TensorId> copies{parameter};
  std::set<int32_t> stages;
  for (size_t i = 0; i < p.operations.size(); ++i) {
    const Operation& op = p.operations[i];
    if (std::ranges::none_of(op.inputs, [&](TensorId id) { return copies.contains(id); })) continue;
    if (places[i].stage == PipelinePlace::everywhere) copies.insert(op.outputs.begin(), op.outputs.end());
    if (places[i].stage != PipelinePlace::everywhere) stages.insert(places[i].stage);
  }
  return stages;
}

}  // namespace

SpreadGradients spread_gradients(const Differentiated& step, const std::vector<PipelinePlace>& places) {
  const Program& p = step.program;
  const auto made_by = writers(p);
  SpreadGradients result;
  for (const auto& [parameter, gradient] : step.gradients) {
    if (p.tensor(parameter).role != Role::parameter) continue;
    Addends found;
    follow(p, made_by, places, gradient, found);
    for (const int32_t stage : reading_stages(p, places, parameter))
      if (!found.stages.contains(stage))
        throw Error(
            Fault::usage,
            fmt::format("stage {} reads '{}' but has no share in its gradient", stage, p.tensor(parameter).name),
            p.name, "cut the model elsewhere");
    if (found.stages.size() < 2) continue;
    result.stages[parameter].assign(found.stages.begin(), found.stages.end());
    result.sums.insert(found.sums.begin(), found.sums.end());
  }
  return result;
}

}  // namespace gpusizer
