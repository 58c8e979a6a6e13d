// SPDX-License-Identifier: Apache-2.0
// Adds the parameter updates to a differentiated program.
#include "workloads/program/optimizer.hpp"

#include <cmath>

#include <fmt/format.h>

#include "gpusizer/error.hpp"
#include "workloads/program/autodiff.hpp"
#include "workloads/program/builder.hpp"

namespace gpusizer {

Program training_program(const Program& forward, const SgdOptions& options) {
  Differentiated d = differentiate(forward);
  return add_sgd(std::move(d.program), d.gradients, options);
}

Program add_sgd(Program differentiated, const std::vector<std::pair<TensorId, TensorId>>& gradients,
                const SgdOptions& o) {
  if (!(o.momentum >= 0 && o.momentum < 1) || !(o.weight_decay >= 0 && std::isfinite(o.weight_decay)))
    throw Error(Fault::usage, fmt::format("momentum {} and weight decay {} cannot be", o.momentum, o.weight_decay));
  ProgramBuilder b{std::move(differentiated)};
  const TensorId rate = b.scalar("learning_rate", 0);
  for (const auto& [parameter, gradient] : gradients) {
    const std::string name = b.program().tensor(parameter).name;
    std::vector<TensorId> inputs{parameter, gradient, rate};
    if (o.momentum > 0) inputs.push_back(b.persistent(name + ":momentum", b.shape(parameter), Role::optimizer_state, {}));
    b.apply(OpKind::sgd, name, inputs, SgdAttributes{o.momentum, o.weight_decay}, Phase::update);
  }
  return b.finish();
}

}  // namespace gpusizer
