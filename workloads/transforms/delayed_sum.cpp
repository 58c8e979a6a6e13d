// SPDX-License-Identifier: Apache-2.0
// Slots for what is under way, in the memory that persists: it is planned, saved and restored as all else is.
#include "workloads/transforms/delayed_sum.hpp"

#include <fmt/format.h>

namespace gpusizer {

namespace {

constexpr const char* steps_name = "delayed:steps";

TensorId step_count(Insertion& edit) {
  const Tensor* known = edit.program().find(steps_name);
  return known ? known->id : edit.persistent(steps_name, {}, Role::optimizer_state);
}

}  // namespace

std::vector<TensorId> add_delayed_sum(Insertion& edit, int32_t place, const std::string& layer,
                                      const std::vector<DelayedAddend>& addends,
                                      const CollectiveAttributes& attributes) {
  std::vector<TensorId> inputs;
  for (const DelayedAddend& one : addends) inputs.push_back(one.tensor);
  for (int32_t slot = 0; slot <= attributes.delay; ++slot)
    for (const DelayedAddend& one : addends) {
      const Shape shape = edit.program().tensor(one.tensor).shape;
      inputs.push_back(edit.persistent(fmt::format("{}:delayed.{}", one.name, slot), shape, Role::optimizer_state));
    }
  inputs.push_back(step_count(edit));
  auto outputs = edit.apply(place, OpKind::delayed_all_reduce, layer, inputs, attributes, Phase::communicate);
  outputs.resize(addends.size());
  return outputs;
}

Program count_delayed_steps(Program step) {
  const Tensor* steps = step.find(steps_name);
  if (!steps) return step;
  const TensorId id = steps->id;
  ProgramBuilder b{std::move(step)};
  b.apply(OpKind::count_step, "delayed", {id}, {}, Phase::update);
  return b.finish();
}

}  // namespace gpusizer
