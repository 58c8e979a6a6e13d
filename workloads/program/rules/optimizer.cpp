// SPDX-License-Identifier: Apache-2.0
// Rules of the parameter updates; parameters and optimizer state are updated in place.
#include <fmt/format.h>

#include "workloads/program/rules/rules.hpp"

namespace gpusizer::rules {

namespace {

// (parameter, gradient, learning_rate [, momentum]) -> parameter [, momentum] in place
std::vector<OutputRule> sgd_outputs(const RuleContext& c) {
  c.require(c.shape(0) == c.shape(1), fmt::format("gradient {} does not fit parameter {}", to_string(c.shape(1)),
                                                  to_string(c.shape(0))));
  std::vector<OutputRule> out{{.suffix = "", .shape = {}, .in_place_of = 0}};
  if (c.inputs.size() > 3) out.push_back({.suffix = "", .shape = {}, .in_place_of = 3});
  return out;
}

constexpr OperationRule table[] = {{OpKind::sgd, "sgd", sgd_outputs}};

}  // namespace

std::span<const OperationRule> optimizer() { return table; }

}  // namespace gpusizer::rules
