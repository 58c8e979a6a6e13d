// SPDX-License-Identifier: Apache-2.0
// Finds the threshold among all weights, and sets what is below it to zero.
#include "workloads/transforms/pruning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "gpusizer/error.hpp"

namespace gpusizer {

namespace {

void add_weights(const Operation& op, std::set<TensorId>& ids) {
  if (op.kind == OpKind::conv2d || op.kind == OpKind::linear) ids.insert(op.inputs[1]);
  if (op.kind == OpKind::lstm) ids.insert({op.inputs[1], op.inputs[2]});
}

std::vector<std::vector<float>*> prunable(const Program& program, TensorValues& values) {
  std::set<TensorId> ids;
  for (const Operation& op : program.operations) add_weights(op, ids);
  for (const Operation& op : program.operations)
    if (op.kind == OpKind::gather_rows) ids.erase(op.inputs[0]);  // a table of embeddings that a layer shares
  std::vector<std::vector<float>*> list;
  for (const TensorId id : ids) {
    values_of(values, program.tensor(id).name);
    list.push_back(&values.find(program.tensor(id).name)->second);
  }
  return list;
}

}  // namespace

Pruned prune(const Program& program, double share, TensorValues& values) {
  if (!(share >= 0 && share < 1))
    throw Error(Fault::usage, fmt::format("a share of {} cannot be pruned", share), "--prune", "use 0 up to below 1");
  const auto weights = prunable(program, values);
  std::vector<float> sizes;
  for (const auto* w : weights)
    for (const float v : *w) {
      if (!std::isfinite(v))
        throw Error(Fault::input, "a weight is not finite: there is no order to prune by", program.name);
      sizes.push_back(std::abs(v));
    }
  Pruned result{.weights = static_cast<int64_t>(sizes.size())};
  const auto wanted = static_cast<size_t>(std::floor(share * static_cast<double>(sizes.size())));
  if (wanted > 0) {
    std::ranges::nth_element(sizes, sizes.begin() + static_cast<ptrdiff_t>(wanted - 1));
    const float threshold = sizes[wanted - 1];
    result.threshold = threshold;
    for (auto* w : weights)
      for (float& v : *w)
        if (std::abs(v) <= threshold) v = 0;
  }
  for (const auto* w : weights) result.zeros += std::ranges::count(*w, 0.0f);
  return result;
}

}  // namespace gpusizer
