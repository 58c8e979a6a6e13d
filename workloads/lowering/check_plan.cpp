// SPDX-License-Identifier: Apache-2.0
// Proves a memory plan by playing the programs on a map of bytes: who writes owns, and who reads must still own.
// It knows nothing of lifetimes or of how the plan was made. Where operations run on several streams it plays once for
// each of them, with that stream always last: any two operations that may overlap so come in both orders.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "workloads/lowering/happens_before.hpp"
#include "workloads/lowering/memory_plan.hpp"
#include "workloads/lowering/schedule.hpp"
#include "workloads/program/operations.hpp"

namespace gpusizer {

namespace {

// The bytes of the arena, each stretch with the name of what was written there last.
class Arena {
 public:
  void write(const std::string& owner, Placement p) {
    if (p.bytes == 0) return;
    split(p.offset);
    split(p.offset + p.bytes);
    stretches_.erase(stretches_.lower_bound(p.offset), stretches_.lower_bound(p.offset + p.bytes));
    stretches_[p.offset] = {p.offset + p.bytes, owner};
  }

  // Another owner of any of the bytes; empty when they are all `owner`'s.
  std::string intruder(const std::string& owner, Placement p) const {
    auto it = stretches_.upper_bound(p.offset);
    if (it != stretches_.begin()) --it;
    int64_t covered = p.offset;
    for (; it != stretches_.end() && it->first < p.offset + p.bytes; ++it) {
      if (it->second.end <= p.offset) continue;
      if (it->second.owner != owner) return it->second.owner;
      if (it->first <= covered) covered = std::max(covered, it->second.end);
    }
    return covered >= p.offset + p.bytes || p.bytes == 0 ? "" : "nothing";
  }

 private:
  struct Stretch {
    int64_t end;
    std::string owner;
  };

  void split(int64_t at) {
    auto it = stretches_.lower_bound(at);
    if (it == stretches_.begin()) return;
    --it;
    if (it->second.end <= at) return;
    stretches_[at] = it->second;
    it->second.end = at;
  }

  std::map<int64_t, Stretch> stretches_;
};

// The operations in an order that may happen: those of stream `last` only when no other one can go on.
std::vector<size_t> order_with_last(const HappensBefore& order, size_t count, int32_t last) {
  std::vector<std::vector<int32_t>> waiting(order.stream_count());
  for (size_t op = count; op-- > 0;)
    waiting[static_cast<size_t>(order.stream(static_cast<int32_t>(op)))].push_back(static_cast<int32_t>(op));
  std::vector<int32_t> done(order.stream_count(), 0);
  const auto is_ready = [&](size_t stream) {
    if (waiting[stream].empty()) return false;
    for (size_t s = 0; s < done.size(); ++s)
      if (done[s] < order.done_before(waiting[stream].back(), s)) return false;
    return true;
  };
  std::vector<size_t> result;
  while (result.size() < count) {
    size_t next = done.size();
    for (size_t s = 0; s < done.size(); ++s)
      if (is_ready(s) && (next == done.size() || static_cast<int32_t>(next) == last)) next = s;
    result.push_back(static_cast<size_t>(waiting[next].back()));
    waiting[next].pop_back();
    ++done[next];
  }
  return result;
}

constexpr const char* persistent_workspace = "the workspace of sums that go on between steps";

class Checker {
 public:
  Checker(std::span<const LoweredProgram> programs, const MemoryPlan& plan) : programs_(programs), plan_(plan) {}

  std::vector<std::string> run() {
    if (plan_.programs.size() != programs_.size())
      return {fmt::format("the plan is for {} programs, not {}", plan_.programs.size(), programs_.size())};
    for (size_t i = 0; i < programs_.size(); ++i) check_places(programs_[i], plan_.programs[i]);
    if (!faults_.empty()) return faults_;
    for (const auto& [name, place] : persistent_) arena_.write(name, place);
    for (size_t i = 0; i < programs_.size(); ++i) {
      const HappensBefore order{programs_[i].program, streams_of(programs_[i].program)};
      for (size_t last = 0; last < order.stream_count(); ++last)
        play(programs_[i], plan_.programs[i],
             order_with_last(order, programs_[i].program.operations.size(), static_cast<int32_t>(last)));
    }
    return faults_;
  }

 private:
  void fault(std::string text) {
    if (said_.insert(text).second) faults_.push_back(std::move(text));
  }

  void check_place(const std::string& what, Placement p, int64_t bytes) {
    if (p.bytes != bytes) fault(fmt::format("{} has {} bytes in the plan and takes {}", what, p.bytes, bytes));
    if (p.offset < 0 || p.bytes < 0 || p.offset + p.bytes > plan_.peak_bytes())
      fault(fmt::format("{} lies outside the arena: {} bytes at {} of {}", what, p.bytes, p.offset, plan_.peak_bytes()));
    if (plan_.alignment < 1 || p.offset % plan_.alignment != 0)
      fault(fmt::format("{} is not aligned to {}: it lies at {}", what, plan_.alignment, p.offset));
  }

  void check_places(const LoweredProgram& lowered, const ProgramPlacement& placed) {
    const Program& p = lowered.program;
    if (placed.tensors.size() != p.tensors.size() || placed.workspaces.size() != p.operations.size())
      return fault(fmt::format("the plan does not fit program '{}'", p.name));
    for (const Tensor& t : p.tensors) {
      const auto i = static_cast<size_t>(t.id.index);
      check_place(fmt::format("'{}' of program '{}'", t.name, p.name), placed.tensors[i], lowered.tensor_bytes[i]);
      if (is_persistent(t.role) && lowered.tensor_bytes[i] > 0) share(t.name, placed.tensors[i]);
    }
    for (size_t i = 0; i < p.operations.size(); ++i) {
      check_place(workspace_name(p.operations[i]), placed.workspaces[i], lowered.workspace_bytes[i]);
      if (goes_on_between_steps(p.operations[i].kind)) share_workspace(placed.workspaces[i]);
    }
  }

  void share(const std::string& name, Placement place) {
    const Placement first = persistent_.try_emplace(name, place).first->second;
    if (first.offset != place.offset || first.bytes != place.bytes)
      fault(fmt::format("'{}' must lie in one place, not at {} and {}", name, first.offset, place.offset));
  }

  // All of them use the same memory, one at a time.
  void share_workspace(Placement place) {
    if (place.bytes == 0) return;
    Placement& shared = persistent_.try_emplace(persistent_workspace, place).first->second;
    if (shared.offset != place.offset)
      fault(fmt::format("{} must lie in one place, not at {} and {}", persistent_workspace, shared.offset, place.offset));
    shared.bytes = std::max(shared.bytes, place.bytes);
  }

  static std::string workspace_name(const Operation& op) {
    if (goes_on_between_steps(op.kind)) return persistent_workspace;
    return fmt::format("workspace of {} {}", operation_name(op.kind), op.layer);
  }

  void require_owned(const std::string& owner, Placement place, const std::string& when) {
    if (const std::string other = arena_.intruder(owner, place); !other.empty())
      fault(fmt::format("'{}' overlaps '{}' while both are alive: {}", other, owner, when));
  }

  void play(const LoweredProgram& lowered, const ProgramPlacement& placed, const std::vector<size_t>& running_order) {
    const Program& p = lowered.program;
    const auto place = [&](TensorId id) { return placed.tensors[static_cast<size_t>(id.index)]; };
    const auto require = [&](const std::vector<TensorId>& ids, const std::string& when) {
      for (const TensorId id : ids) require_owned(p.tensor(id).name, place(id), when);
    };
    for (const Tensor& t : p.tensors)
      if (t.role == Role::input) arena_.write(t.name, place(t.id));
    for (const size_t i : running_order) {
      const Operation& op = p.operations[i];
      const std::string when = fmt::format("{} '{}' of program '{}'", operation_name(op.kind), op.layer, p.name);
      for (const TensorId id : op.outputs) arena_.write(p.tensor(id).name, place(id));
      if (!goes_on_between_steps(op.kind)) arena_.write(workspace_name(op), placed.workspaces[i]);
      require(op.inputs, when);
      require(op.outputs, when);
    }
    require(results(p), fmt::format("the end of program '{}'", p.name));
    for (const auto& [name, where] : persistent_) require_owned(name, where, fmt::format("program '{}'", p.name));
  }

  std::span<const LoweredProgram> programs_;
  const MemoryPlan& plan_;
  std::map<std::string, Placement> persistent_;
  Arena arena_;
  std::vector<std::string> faults_;
  std::set<std::string> said_;
};

}  // namespace

std::vector<std::string> check_plan(std::span<const LoweredProgram> programs, const MemoryPlan& plan) {
  return Checker{programs, plan}.run();
}

}  // namespace gpusizer
