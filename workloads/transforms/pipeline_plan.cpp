// SPDX-License-Identifier: Apache-2.0
// Cuts the layers of a model into stages.
#include "workloads/transforms/pipeline_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "gpusizer/error.hpp"
#include "workloads/program/operations.hpp"
#include "workloads/transforms/model_blocks.hpp"

namespace gpusizer {

namespace {

// What a cut never separates: a block, what stands before the blocks, or a layer with the operations that follow it.
struct Unit {
  std::string block{};  // empty outside of blocks
  std::vector<std::string> layers{};
  int64_t macs = 0, parameter_bytes = 0, activation_bytes = 0;
};

int64_t bytes_of(const Tensor& t) { return element_count(t.shape) * element_bytes(t.dtype); }

bool is_number(const Program& p, TensorId id) {
  return p.tensor(id).shape.empty() && p.tensor(id).dtype != DType::opaque;
}

// Shares of the loss and the like: they go where they are needed, whatever their place in the list.
bool only_numbers(const Program& p, const Operation& op) {
  const auto number = [&](TensorId id) { return is_number(p, id); };
  return op.kind == OpKind::count_labels ||
         (std::ranges::all_of(op.inputs, number) && std::ranges::all_of(op.outputs, number));
}

bool reads_parameter(const Program& p, const Operation& op) {
  return std::ranges::any_of(op.inputs, [&](TensorId id) { return p.tensor(id).role == Role::parameter; });
}

class Units {
 public:
  explicit Units(const Program& p) : p_(p), backward_(after_loss(p)), made_by_(writers(p)) {
    for (const Operation& op : p.operations)
      if (!backward_[index(op)] && block_of(op.layer).size() > 0) has_blocks_ = true;
    for (const Operation& op : p.operations)
      if (!backward_[index(op)] && !only_numbers(p, op)) add(op);
    for (const Operation& op : p.operations) weigh(op);
  }

  const std::vector<Unit>& list() const { return list_; }
  const std::map<std::string, size_t, std::less<>>& of_layer() const { return of_layer_; }

  // Bytes of activations that go over a cut in front of the unit.
  int64_t crossing_bytes(size_t unit) const {
    std::set<TensorId> crossing;
    for (const Operation& op : p_.operations) {
      if (backward_[index(op)] || only_numbers(p_, op) || unit_of(op) < unit) continue;
      for (const TensorId id : op.inputs)
        if (const auto from = unit_of_writer(id); from && *from < unit) crossing.insert(id);
    }
    int64_t bytes = 0;
    for (const TensorId id : crossing) bytes += bytes_of(p_.tensor(id));
    return bytes;
  }

  int64_t block_count() const {
    return std::ranges::count_if(list_, [](const Unit& u) { return !u.block.empty(); });
  }

 private:
  size_t index(const Operation& op) const { return static_cast<size_t>(&op - p_.operations.data()); }
  size_t unit_of(const Operation& op) const {
    const auto it = of_layer_.find(without_again(op.layer));
    return it == of_layer_.end() ? 0 : it->second;
  }
  std::optional<size_t> unit_of_writer(TensorId id) const {
    const int32_t writer = made_by_[static_cast<size_t>(id.index)];
    if (writer < 0 || is_persistent(p_.tensor(id).role)) return std::nullopt;
    return unit_of(p_.operations[static_cast<size_t>(writer)]);
  }

  void add(const Operation& op) {
    if (of_layer_.contains(op.layer)) return;
    const std::string block(block_of(op.layer));
    // A mere rearrangement of the inputs is no stage: it goes with the first block.
    if (list_.size() == 1 && list_[0].block.empty() && !first_has_parameters_) list_[0].block = block;
    if (list_.empty() || starts_unit(op, block)) list_.push_back({.block = block});
    if (list_.size() == 1) first_has_parameters_ = first_has_parameters_ || reads_parameter(p_, op);
    list_.back().layers.push_back(op.layer);
    of_layer_[op.layer] = list_.size() - 1;
    loss_seen_ = loss_seen_ || judges_predictions(op.kind);
  }

  // From the first loss on nothing is cut: losses and counts are the last stage's.
  bool starts_unit(const Operation& op, const std::string& block) {
    if (loss_seen_) return false;
    const bool before_blocks = has_blocks_ && list_.size() == 1 && list_[0].block.empty();
    if (!block.empty()) return block != list_.back().block;
    return !before_blocks && reads_parameter(p_, op);
  }

  void weigh(const Operation& op) {
    const Operation& place = op.forward_op >= 0 ? p_.operations[static_cast<size_t>(op.forward_op)] : op;
    const auto it = of_layer_.find(without_again(place.layer));
    if (it == of_layer_.end()) return;
    Unit& unit = list_[it->second];
    if (const auto macs = rule(op.kind).macs) unit.macs += macs(p_, op);
    if (backward_[index(op)]) return;
    for (const TensorId id : op.inputs)
      if (p_.tensor(id).role == Role::parameter) unit.parameter_bytes += bytes_of(p_.tensor(id));
    for (const TensorId id : op.outputs)
      if (!is_persistent(p_.tensor(id).role)) unit.activation_bytes += bytes_of(p_.tensor(id));
  }

  const Program& p_;
  std::vector<bool> backward_;
  std::vector<int32_t> made_by_;
  bool has_blocks_ = false, loss_seen_ = false, first_has_parameters_ = false;
  std::vector<Unit> list_;
  std::map<std::string, size_t, std::less<>> of_layer_;
};

// The stages' first units, and the end behind the last.
using Cuts = std::vector<size_t>;

PipelinePlan plan_of(const Units& units, const Cuts& cuts) {
  PipelinePlan plan{.stages = static_cast<int32_t>(cuts.size()) - 1};
  for (size_t s = 0; s + 1 < cuts.size(); ++s) {
    StageLoad load{.first_layer = units.list()[cuts[s]].layers.front(),
                   .last_layer = units.list()[cuts[s + 1] - 1].layers.back()};
    for (size_t u = cuts[s]; u < cuts[s + 1]; ++u) {
      const Unit& unit = units.list()[u];
      load.macs += unit.macs;
      load.parameter_bytes += unit.parameter_bytes;
      load.activation_bytes += unit.activation_bytes;
      for (const std::string& layer : unit.layers) plan.stage_of_layer[layer] = static_cast<int32_t>(s);
    }
    if (s + 2 < cuts.size()) load.sent_bytes = units.crossing_bytes(cuts[s + 1]);
    plan.loads.push_back(std::move(load));
  }
  return plan;
}

// How much a stage of one unit weighs: mostly by its work; memory decides where that is nearly the same.
std::vector<double> weights(const Units& units) {
  constexpr double memory_share = 0.1;
  double macs = 0, bytes = 0;
  for (const Unit& u : units.list()) {
    macs += static_cast<double>(u.macs);
    bytes += static_cast<double>(u.parameter_bytes + u.activation_bytes);
  }
  std::vector<double> list;
  for (const Unit& u : units.list())
    list.push_back(static_cast<double>(u.macs) / std::max(macs, 1.0) +
                   memory_share * static_cast<double>(u.parameter_bytes + u.activation_bytes) / std::max(bytes, 1.0));
  return list;
}

// The smallest largest stage, and among those the least that is sent, over all ways to cut: for each number of stages
// and each end the best cut before it is known (dynamic programming).
Cuts balanced_cuts(const Units& units, size_t stages) {
  struct Best {
    std::pair<double, int64_t> cost{std::numeric_limits<double>::infinity(), 0};
    size_t cut = 0;
  };
  const std::vector<double> weight = weights(units);
  const size_t count = weight.size();
  std::vector<int64_t> crossing;
  for (size_t u = 0; u < count; ++u) crossing.push_back(u == 0 ? 0 : units.crossing_bytes(u));
  std::vector<std::vector<Best>> best(stages + 1, std::vector<Best>(count + 1));
  best[0][0].cost = {0, 0};
  for (size_t s = 1; s <= stages; ++s)
    for (size_t end = s; end <= count; ++end) {
      double own = 0;
      for (size_t cut = end; cut-- >= s;) {
        own += weight[cut];
        const Best& before = best[s - 1][cut];
        const std::pair cost{std::max(before.cost.first, own), before.cost.second + crossing[cut]};
        if (cost < best[s][end].cost) best[s][end] = {cost, cut};
      }
    }
  Cuts cuts(stages + 1, count);
  for (size_t s = stages; s > 0; --s) cuts[s - 1] = best[s][cuts[s]].cut;
  return cuts;
}

}  // namespace

int32_t most_stages(const Program& program) { return static_cast<int32_t>(Units(program).list().size()); }

int64_t block_count(const Program& program) { return Units(program).block_count(); }

PipelinePlan plan_stages(const Differentiated& step, int32_t stages) {
  const Units units(step.program);
  const auto most = static_cast<int32_t>(units.list().size());
  if (stages < 1)
    throw Error(Fault::usage, fmt::format("a pipeline of {} stages cannot be", stages), "--parallel",
                "use pp=1 or more");
  if (stages > most)
    throw Error(Fault::usage,
                fmt::format("{} has only {} layers that can be cut apart, too few for {} stages", step.program.name,
                            most, stages),
                "--parallel", fmt::format("use pp={} or less", most));
  return plan_of(units, balanced_cuts(units, static_cast<size_t>(stages)));
}

PipelinePlan plan_stages(const Differentiated& step, const std::vector<int64_t>& blocks) {
  const Units units(step.program);
  const int64_t all = units.block_count(), given = std::accumulate(blocks.begin(), blocks.end(), int64_t{0});
  if (blocks.empty() || std::ranges::any_of(blocks, [](int64_t n) { return n < 1; }) || given != all)
    throw Error(Fault::usage,
                fmt::format("stages of {} blocks do not make the {} blocks of {}", fmt::join(blocks, ", "), all,
                            step.program.name),
                "--stages", "give each stage at least one block, and all of them once");
  size_t first = 0;
  while (units.list()[first].block.empty()) ++first;
  Cuts cuts{0};
  for (const int64_t n : blocks) {
    first += static_cast<size_t>(n);
    cuts.push_back(first);
  }
  cuts.back() = units.list().size();
  return plan_of(units, cuts);
}

}  // namespace gpusizer
