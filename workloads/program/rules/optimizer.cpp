// SPDX-License-Identifier: Apache-2.0
// Rules of the update phase; parameters and optimizer state are updated in place.
#include <fmt/format.h>

#include "workloads/program/rules/rules.hpp"

namespace gpusizer::rules {

namespace {

OutputRule in_place(int input) { return {.suffix = "", .shape = {}, .in_place_of = input}; }

void require_gradient(const RuleContext& c) {
  c.require(c.shape(0) == c.shape(1), fmt::format("gradient {} does not fit parameter {}", to_string(c.shape(1)),
                                                  to_string(c.shape(0))));
}

void require_inputs(const RuleContext& c, size_t count) {
  c.require(c.inputs.size() == count, fmt::format("{} inputs were given, {} are needed", c.inputs.size(), count));
}

// (parameter, gradient, learning_rate [, momentum] [, factor]) -> parameter [, momentum] in place
std::vector<OutputRule> sgd_outputs(const RuleContext& c) {
  require_gradient(c);
  const auto& a = std::get<SgdAttributes>(c.attributes);
  std::vector<OutputRule> out{in_place(0)};
  if (c.inputs.size() > 3 + size_t{a.scaled}) out.push_back(in_place(3));
  return out;
}

// (parameter, gradient, learning_rate, m, v, steps [, factor]) -> parameter, m, v in place
std::vector<OutputRule> adam_outputs(const RuleContext& c) {
  require_gradient(c);
  require_inputs(c, 6 + size_t{std::get<AdamAttributes>(c.attributes).update.scaled});
  return {in_place(0), in_place(3), in_place(4)};
}

// (parameter, gradient, learning_rate, sum [, factor]) -> parameter, sum in place
std::vector<OutputRule> adagrad_outputs(const RuleContext& c) {
  require_gradient(c);
  require_inputs(c, 4 + size_t{std::get<AdagradAttributes>(c.attributes).update.scaled});
  return {in_place(0), in_place(3)};
}

// (gradients... [, loss scale]) -> factor, norm: the norm is of all gradients as one vector, without the loss scale;
// the factor takes the loss scale off and clips; 0 if a gradient is not finite.
std::vector<OutputRule> norm_outputs(const RuleContext& c) {
  const auto& a = std::get<GradientNormAttributes>(c.attributes);
  c.require(c.inputs.size() > size_t{a.scaled}, "there are no gradients");
  c.require(a.clip >= 0, fmt::format("the norm cannot be clipped at {}", a.clip));
  return {{"factor", {}}, {"norm", {}}};
}

// (steps [, factor]) -> steps in place: one more, unless the factor is 0
std::vector<OutputRule> count_outputs(const RuleContext&) { return {in_place(0)}; }

// (loss scale, good steps in a row, factor) -> both in place
std::vector<OutputRule> scale_outputs(const RuleContext& c) {
  require_inputs(c, 3);
  return {in_place(0), in_place(1)};
}

constexpr OperationRule table[] = {
    {OpKind::gradient_norm, "gradient_norm", norm_outputs},
    {OpKind::count_step, "count_step", count_outputs},
    {OpKind::loss_scale_update, "loss_scale_update", scale_outputs},
    {OpKind::sgd, "sgd", sgd_outputs},
    {OpKind::adam, "adam", adam_outputs},
    {OpKind::adagrad, "adagrad", adagrad_outputs},
    {OpKind::lamb, "lamb", adam_outputs},
};

}  // namespace

std::span<const OperationRule> optimizer() { return table; }

}  // namespace gpusizer::rules
