// SPDX-License-Identifier: Apache-2.0
// Rules of what several ranks do together. Sums go over the ranks in ascending order, so that they are the same however
// the ranks are connected.
#include <fmt/format.h>

#include <algorithm>

#include "workloads/program/builder.hpp"
#include "workloads/program/rules/rules.hpp"

namespace gpusizer::rules {

namespace {

const CollectiveAttributes& collective_of(const RuleContext& c) {
  const auto& a = std::get<CollectiveAttributes>(c.attributes);
  c.require(!a.ranks.empty() && std::ranges::is_sorted(a.ranks) && std::ranges::count(a.ranks, a.rank) == 1,
            fmt::format("rank {} is not among those that take part", a.rank));
  c.require(!c.inputs.empty(), "there is nothing to communicate");
  return a;
}

// What is made of it here is no parameter, state or input any more.
OutputRule sum_of(const Tensor& t) {
  return {fmt::format("{}:reduced", t.name), t.shape, t.dtype, t.role == Role::gradient ? Role::gradient : Role::activation};
}

void require_owners(const RuleContext& c, const CollectiveAttributes& a) {
  c.require(a.owners.size() == c.inputs.size(), "each tensor needs an owner");
  for (const int32_t owner : a.owners)
    c.require(std::ranges::count(a.ranks, owner) == 1, fmt::format("the owner {} does not take part", owner));
}

// (x...) -> the sum of each over the ranks
std::vector<OutputRule> all_reduce_outputs(const RuleContext& c) {
  collective_of(c);
  std::vector<OutputRule> out;
  for (const Tensor* t : c.inputs) out.push_back(sum_of(*t));
  return out;
}

// (x..., kept..., steps) -> the sums of `delay` steps ago, kept... in place
//   kept: slot 0 for each x, then slot 1 ..., `delay` + 1 slots in all; steps: how many were taken before this one.
// The step's x go into slot (steps mod (delay + 1)) and become their sums there while the next steps are computed; what
// is told lies in the slot after it. So the first `delay` steps tell what the slots began with.
std::vector<OutputRule> delayed_all_reduce_outputs(const RuleContext& c) {
  const auto& a = collective_of(c);
  c.require(a.delay >= 0, fmt::format("a sum cannot be told {} steps later", a.delay));
  const size_t slots = static_cast<size_t>(a.delay) + 1, count = (c.inputs.size() - 1) / (slots + 1);
  c.require(count > 0 && c.inputs.size() == count * (slots + 1) + 1,
            fmt::format("{} inputs are no whole number of tensors with {} slots each", c.inputs.size(), slots));
  c.require(c.inputs.back()->shape.empty() && is_persistent(c.inputs.back()->role), "steps are not counted");
  std::vector<OutputRule> out;
  for (size_t i = 0; i < count; ++i) out.push_back(sum_of(*c.inputs[i]));
  for (size_t i = count; i + 1 < c.inputs.size(); ++i) {
    const Tensor &kept = *c.inputs[i], &x = *c.inputs[i % count];
    c.require(is_persistent(kept.role) && kept.shape == x.shape, fmt::format("{} cannot keep {}", kept.name, x.name));
    c.require(x.dtype == DType::f32 && kept.dtype == DType::f32, fmt::format("{} is not f32", x.name));
    out.push_back({.suffix = "", .shape = {}, .in_place_of = static_cast<int>(i)});
  }
  return out;
}

// (x...) -> the sums that this rank owns, in the order of the inputs
std::vector<OutputRule> reduce_scatter_outputs(const RuleContext& c) {
  const auto& a = collective_of(c);
  require_owners(c, a);
  std::vector<OutputRule> out;
  for (size_t i = 0; i < c.inputs.size(); ++i)
    if (const Tensor* t = c.inputs[i]; a.owners[i] == a.rank)
      out.push_back(sum_of(*t));
  return out;
}

// (x) -> [ranks, ...]: one for each rank
std::vector<OutputRule> all_gather_outputs(const RuleContext& c) {
  const auto& a = collective_of(c);
  Shape shape = c.shape(0);
  shape.insert(shape.begin(), static_cast<int64_t>(a.ranks.size()));
  return {{"gathered", shape, c.inputs[0]->dtype, c.inputs[0]->role}};
}

// (persistent...) -> each in place: what its owner has
std::vector<OutputRule> broadcast_outputs(const RuleContext& c) {
  require_owners(c, collective_of(c));
  std::vector<OutputRule> out;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    c.require(is_persistent(c.inputs[i]->role), fmt::format("{} does not persist", c.inputs[i]->name));
    out.push_back({.suffix = "", .shape = {}, .in_place_of = static_cast<int>(i)});
  }
  return out;
}

// (x...) -> nothing here
std::vector<OutputRule> send_outputs(const RuleContext& c) {
  c.require(!c.inputs.empty(), "there is nothing to send");
  return {};
}

// () -> what the attributes say; or (persistent...) -> each in place
std::vector<OutputRule> receive_outputs(const RuleContext& c) {
  const auto& a = std::get<MessageAttributes>(c.attributes);
  c.require(a.contents.empty() != c.inputs.empty(), "either tensors are overwritten or the contents are named");
  std::vector<OutputRule> out;
  for (size_t i = 0; i < c.inputs.size(); ++i)
    out.push_back({.suffix = "", .shape = {}, .in_place_of = static_cast<int>(i)});
  for (const auto& one : a.contents) out.push_back({one.name, one.shape, one.dtype, one.role});
  return out;
}

// x -> x, whose gradient is the sum over the ranks: each of them goes on with its own part of the work
std::vector<OutputRule> fork_outputs(const RuleContext& c) {
  collective_of(c);
  return {{"", c.shape(0), c.inputs[0]->dtype}};
}

Gradients fork_gradients(ProgramBuilder& b, int32_t index, const Gradients& dys, const std::vector<bool>&) {
  const Operation op = b.program().operations[static_cast<size_t>(index)];
  return {b.apply(OpKind::all_reduce, op.layer + ":grad", {*dys[0]}, op.attributes, Phase::communicate, index)[0]};
}

// Each rank goes on with the whole sum, and its gradient is that of each addend.
Gradients all_reduce_gradients(ProgramBuilder&, int32_t, const Gradients& dys, const std::vector<bool>&) { return dys; }

constexpr OperationRule table[] = {
    {OpKind::all_reduce, "all_reduce", all_reduce_outputs, nullptr, all_reduce_gradients, true},
    {OpKind::delayed_all_reduce, "delayed_all_reduce", delayed_all_reduce_outputs, nullptr, nullptr, true},
    {OpKind::reduce_scatter, "reduce_scatter", reduce_scatter_outputs, nullptr, nullptr, true},
    {OpKind::all_gather, "all_gather", all_gather_outputs, nullptr, nullptr, true},
    {OpKind::broadcast, "broadcast", broadcast_outputs, nullptr, nullptr, true},
    {OpKind::send, "send", send_outputs, nullptr, nullptr, true},
    {OpKind::receive, "receive", receive_outputs, nullptr, nullptr, true},
    {OpKind::fork, "fork", fork_outputs, nullptr, fork_gradients},
};

}  // namespace

std::span<const OperationRule> collective() { return table; }

}  // namespace gpusizer::rules
