// SPDX-License-Identifier: Apache-2.0
// Rules of batch normalisation whose statistics go over the samples of several ranks: each has x [N, C, H, W] of its
// own.
#include <fmt/format.h>

#include <algorithm>

#include "workloads/program/builder.hpp"
#include "workloads/program/rules/rules.hpp"

namespace gpusizer::rules {

namespace {

// x -> [3, C]: how many values there are, their mean, and the sum of the squares of their differences from it
std::vector<OutputRule> statistics_outputs(const RuleContext& c) {
  const Shape& x = c.shape(0);
  c.require(std::get<NormAttributes>(c.attributes).training, "only a training program takes statistics");
  c.require(x.size() == 4, fmt::format("input {} must have four dimensions", to_string(x)));
  return {{"statistics", {3, x[1]}}};
}

// (x, scale, shift, running_mean, running_variance, statistics [ranks, 3, C]) -> y, saved, running_mean,
// running_variance. [3, C] are the statistics of one rank that is alone.
std::vector<OutputRule> apply_outputs(const RuleContext& c) {
  const Shape &x = c.shape(0), &statistics = c.shape(5);
  c.require(x.size() == 4, fmt::format("input {} must have four dimensions", to_string(x)));
  for (size_t i = 1; i < 5; ++i)
    c.require(c.shape(i) == Shape{x[1]},
              fmt::format("{} {} does not fit input {}", c.inputs[i]->name, to_string(c.shape(i)), to_string(x)));
  const Shape each{3, x[1]};
  c.require((statistics.size() == 2 || statistics.size() == 3) && Shape(statistics.end() - 2, statistics.end()) == each,
            fmt::format("statistics {} are not {} for each rank", to_string(statistics), to_string(each)));
  c.require(x[0] * x[2] * x[3] * (statistics.size() == 3 ? statistics[0] : 1) > 1,
            fmt::format("input {} has one value per channel, whose variance is unknown: use a larger batch or image",
                        to_string(x)));
  return {{"", x},
          {"saved", {}, DType::opaque, Role::saved},
          {.suffix = "", .shape = {}, .in_place_of = 3},
          {.suffix = "", .shape = {}, .in_place_of = 4}};
}

// (dy, x, saved) -> [2, C]: the sums of dy and of dy times the normalised x over this rank's samples
std::vector<OutputRule> sums_outputs(const RuleContext& c) {
  const Shape &dy = c.shape(0), &x = c.shape(1);
  c.require(dy == x, fmt::format("gradient {} does not fit input {}", to_string(dy), to_string(x)));
  return {{"grad_sums", {2, x.at(1)}, DType::f32, Role::gradient}};
}

// (dy, x, scale, saved, sums, all ranks' sums) -> dx, dscale, dshift; the last two are this rank's share
std::vector<OutputRule> apply_backward_outputs(const RuleContext& c) {
  const Shape &dy = c.shape(0), &x = c.shape(1);
  c.require(dy == x, fmt::format("gradient {} does not fit input {}", to_string(dy), to_string(x)));
  for (const size_t i : {size_t{4}, size_t{5}})
    c.require(c.shape(i) == Shape{2, x.at(1)},
              fmt::format("sums {} do not fit input {}", to_string(c.shape(i)), to_string(x)));
  return {{"grad_input", x, DType::f32, Role::gradient},
          {"grad_weight", {x[1]}, DType::f32, Role::gradient},
          {"grad_bias", {x[1]}, DType::f32, Role::gradient}};
}

// The backward's sums go to those ranks that the statistics came from.
TensorId summed_over_ranks(ProgramBuilder& b, const Operation& apply, TensorId sums, int32_t forward_op) {
  const auto& operations = b.program().operations;
  const auto makes_statistics = [&](const Operation& op) {
    return std::ranges::count(op.outputs, apply.inputs[5]) > 0;
  };
  const auto it = std::ranges::find_if(operations, makes_statistics);
  if (it == operations.end() || it->kind != OpKind::all_gather) return sums;
  const Attributes ranks = it->attributes;
  return b.apply(OpKind::all_reduce, apply.layer + ":grad", {sums}, ranks, Phase::communicate, forward_op)[0];
}

Gradients apply_gradients(ProgramBuilder& b, int32_t index, const Gradients& dys, const std::vector<bool>&) {
  const Operation op = b.program().operations[static_cast<size_t>(index)];
  const TensorId x = op.inputs[0], scale = op.inputs[1], saved = op.outputs[1];
  const TensorId sums =
      b.apply(OpKind::batch_norm_sums, op.layer, {*dys[0], x, saved}, op.attributes, Phase::backward, index)[0];
  const TensorId all = summed_over_ranks(b, op, sums, index);
  const auto out = b.apply(OpKind::batch_norm_apply_backward, op.layer, {*dys[0], x, scale, saved, sums, all},
                           op.attributes, Phase::backward, index);
  return {out[0], out[1], out[2], std::nullopt, std::nullopt, std::nullopt};
}

constexpr OperationRule table[] = {
    {OpKind::batch_norm_statistics, "batch_norm_statistics", statistics_outputs},
    {OpKind::batch_norm_apply, "batch_norm_apply", apply_outputs, nullptr, apply_gradients},
    {OpKind::batch_norm_sums, "batch_norm_sums", sums_outputs},
    {OpKind::batch_norm_apply_backward, "batch_norm_apply_backward", apply_backward_outputs},
};

}  // namespace

std::span<const OperationRule> statistics() { return table; }

}  // namespace gpusizer::rules
