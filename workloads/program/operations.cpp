// SPDX-License-Identifier: Apache-2.0
// Collects the rules of all operation families into one table.
#include "workloads/program/operations.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gpusizer/error.hpp"
#include "workloads/program/rules/rules.hpp"

namespace gpusizer {

namespace {

std::vector<OperationRule> collect() {
  std::vector<OperationRule> table;
  for (const auto family : {rules::convolution(), rules::normalization(), rules::pointwise(), rules::pooling(),
                            rules::linear(), rules::loss(), rules::gather(), rules::layer_norm(),
                            rules::attention(), rules::recurrent(), rules::regression(), rules::quantization(),
                            rules::optimizer(), rules::collective(), rules::shares(),
                            rules::vocabulary(), rules::statistics()})
    table.insert(table.end(), family.begin(), family.end());
  std::ranges::sort(table, {}, &OperationRule::kind);
  return table;
}

}  // namespace

std::span<const OperationRule> operations() {
  static const std::vector<OperationRule> table = collect();
  return table;
}

const OperationRule& rule(OpKind kind) {
  const auto table = operations();
  const auto it = std::ranges::lower_bound(table, kind, {}, &OperationRule::kind);
  if (it == table.end() || it->kind != kind)
    throw Error(Fault::usage, fmt::format("operation kind {} has no rules", static_cast<int>(kind)));
  return *it;
}

std::string_view operation_name(OpKind kind) { return rule(kind).name; }

size_t given_inputs(const Operation& op) {
  if (op.kind != OpKind::delayed_all_reduce) return op.inputs.size();
  const auto slots = static_cast<size_t>(std::get<CollectiveAttributes>(op.attributes).delay) + 1;
  return (op.inputs.size() - 1) / (slots + 1);
}

void RuleContext::refuse(const std::string& why) const {
  throw Error(Fault::usage, fmt::format("{} '{}': {}", operation_name(kind), layer, why));
}

std::string_view to_string(Phase phase) {
  switch (phase) {
    case Phase::forward: return "forward";
    case Phase::backward: return "backward";
    case Phase::communicate: return "communicate";
    case Phase::update: return "update";
  }
  return "?";
}

}  // namespace gpusizer
