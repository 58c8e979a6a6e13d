// SPDX-License-Identifier: Apache-2.0
// Reverse-mode differentiation over the table of operations.
#include "workloads/program/autodiff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "gpusizer/error.hpp"
#include "workloads/program/builder.hpp"
#include "workloads/program/operations.hpp"

namespace gpusizer {

namespace {

using Needed = std::vector<bool>;  // by tensor: whether a gradient for it is wanted on the way to a leaf

Needed needed_tensors(const Program& p, const std::vector<TensorId>& also) {
  Needed needed(p.tensors.size(), false);
  for (const Tensor& t : p.tensors) needed[static_cast<size_t>(t.id.index)] = t.role == Role::parameter;
  for (const TensorId id : also) needed[static_cast<size_t>(id.index)] = true;
  for (const Operation& op : p.operations) {
    const bool any = std::ranges::any_of(op.inputs, [&](TensorId id) { return needed[static_cast<size_t>(id.index)]; });
    if (any && rule(op.kind).backward)
      for (const TensorId id : op.outputs)
        if (!is_persistent(p.tensor(id).role)) needed[static_cast<size_t>(id.index)] = true;
  }
  return needed;
}

// The gradients that have reached each tensor so far; two users leave two.
using Arrived = std::map<TensorId, std::vector<TensorId>>;

// The sum of what has arrived for a tensor; an `add` for each further user.
std::optional<TensorId> collected(ProgramBuilder& b, Arrived& arrived, TensorId id) {
  auto& list = arrived[id];
  for (int i = 1; list.size() > 1; ++i) {
    const std::string name = fmt::format("{}:grad_sum{}", b.program().tensor(id).name, i);
    const TensorId sum = b.apply(OpKind::add, name, {list[0], list[1]}, AddAttributes{}, Phase::backward)[0];
    list.erase(list.begin());
    list[0] = sum;
  }
  return list.empty() ? std::nullopt : std::optional(list[0]);
}

void step_back(ProgramBuilder& b, int32_t index, const Needed& needed, Arrived& arrived) {
  const Operation op = b.program().operations[static_cast<size_t>(index)];
  if (!rule(op.kind).backward) return;
  Gradients incoming;
  for (const TensorId id : op.outputs) incoming.push_back(collected(b, arrived, id));
  if (!incoming[0]) return;  // the loss does not depend on it
  std::vector<bool> wanted;
  for (const TensorId id : op.inputs) wanted.push_back(needed[static_cast<size_t>(id.index)]);
  if (std::ranges::count(wanted, true) == 0) return;
  const Gradients outgoing = rule(op.kind).backward(b, index, incoming, wanted);
  for (size_t i = 0; i < outgoing.size(); ++i)
    if (wanted[i] && outgoing[i]) arrived[op.inputs[i]].push_back(*outgoing[i]);
}

void require_gradients(const Program& forward, Arrived& arrived) {
  for (const Tensor& t : forward.tensors)
    if (t.role == Role::parameter && arrived[t.id].empty())
      throw Error(Fault::usage, fmt::format("the loss does not depend on parameter '{}'", t.name), forward.name);
}

}  // namespace

Differentiated differentiate(const Program& forward, const std::vector<TensorId>& also) {
  if (forward.loss.index < 0) throw Error(Fault::usage, "a program without a loss has no gradients", forward.name);
  const Needed needed = needed_tensors(forward, also);
  ProgramBuilder b{forward};
  Arrived arrived;
  arrived[forward.loss] = {b.scalar(forward.tensor(forward.loss).name + ":grad", 1.0)};
  for (auto i = static_cast<int32_t>(forward.operations.size()); i-- > 0;) step_back(b, i, needed, arrived);
  require_gradients(forward, arrived);
  Differentiated result;
  std::vector<TensorId> leaves = also;
  for (const Tensor& t : forward.tensors)
    if (t.role == Role::parameter) leaves.push_back(t.id);
  for (const TensorId leaf : leaves)
    if (const auto gradient = collected(b, arrived, leaf)) result.gradients.emplace_back(leaf, *gradient);
  const auto ready = [&](const auto& pair) {
    return std::pair(std::ranges::count(also, pair.first) > 0, pair.second);
  };
  std::ranges::sort(result.gradients, {}, ready);
  result.program = b.finish();
  return result;
}

}  // namespace gpusizer
