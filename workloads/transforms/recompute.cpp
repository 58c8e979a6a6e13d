// SPDX-License-Identifier: Apache-2.0
// Cuts the forward pass into segments and repeats each of them in front of its backward operations.
#include "workloads/transforms/recompute.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "gpusizer/error.hpp"
#include "workloads/program/operations.hpp"
#include "workloads/transforms/model_blocks.hpp"

namespace gpusizer {

namespace {

constexpr int32_t none = -1;

// For each operation the segment it is in, or none: backward operations, and what stands outside of the blocks. Empty
// where the model has fewer than two.
std::vector<int32_t> segments_of_blocks(const Program& p, const std::vector<bool>& backward) {
  std::vector<int32_t> segments;
  std::map<std::string, int32_t, std::less<>> numbers;
  for (const Operation& op : p.operations) {
    const std::string block(backward[segments.size()] ? "" : block_of(op.layer));
    const auto next = static_cast<int32_t>(numbers.size());
    segments.push_back(block.empty() ? none : numbers.try_emplace(block, next).first->second);
  }
  return numbers.size() > 1 ? segments : std::vector<int32_t>{};
}

std::vector<int32_t> even_segments(const Program& p, const std::vector<bool>& backward) {
  const auto count = static_cast<double>(std::ranges::count(backward, false));
  const auto length = static_cast<int32_t>(std::ceil(std::sqrt(count)));
  std::vector<int32_t> segments;
  int32_t number = 0;
  for (const Operation& op : p.operations)
    segments.push_back(backward[segments.size()] || judges_predictions(op.kind) ? none : number++ / length);
  return segments;
}

class Repetition {
 public:
  explicit Repetition(const Differentiated& step)
      : from_(step.program), writers_(writers(step.program)), backward_(after_loss(step.program)) {
    segments_ = segments_of_blocks(from_, backward_);
    if (segments_.empty()) segments_ = even_segments(from_, backward_);
    mark_kept();
    mark_repeated();
  }

  Program run() {
    to_ = from_;
    to_.operations.clear();
    std::set<int32_t> started;
    for (int32_t i = 0; i < size(); ++i) {
      if (backward(i))
        for (const int32_t number : segments_read(i))
          if (started.insert(number).second) repeat(number);
      add_original(i);
    }
    check_program(to_);
    return std::move(to_);
  }

 private:
  int32_t size() const { return static_cast<int32_t>(from_.operations.size()); }
  const Operation& operation(int32_t i) const { return from_.operations[static_cast<size_t>(i)]; }
  bool backward(int32_t i) const { return backward_[static_cast<size_t>(i)]; }
  int32_t segment(int32_t i) const { return i < 0 ? none : segments_[static_cast<size_t>(i)]; }
  int32_t writer(TensorId id) const { return writers_[static_cast<size_t>(id.index)]; }
  bool persists(TensorId id) const { return is_persistent(from_.tensor(id).role); }

  // Batch norm may run twice (see again()); whatever else changes a state, or talks to other ranks, may not.
  bool may_repeat(int32_t i) const {
    const Operation& op = operation(i);
    if (rule(op.kind).reaches_others) return false;
    return op.kind == OpKind::batch_norm || std::ranges::none_of(op.outputs, [&](TensorId id) { return persists(id); });
  }

  // Of each segment is kept what the forward pass reads elsewhere, what it gives, and what must not be made again.
  void mark_kept() {
    kept_.assign(from_.tensors.size(), false);
    for (int32_t i = 0; i < size(); ++i) {
      const Operation& op = operation(i);
      if (segment(i) != none && !may_repeat(i))
        for (const TensorId id : op.outputs) kept_[static_cast<size_t>(id.index)] = true;
      if (backward(i)) continue;
      for (const TensorId id : op.inputs)
        if (segment(writer(id)) != segment(i)) kept_[static_cast<size_t>(id.index)] = true;
    }
    const auto keep = [&](TensorId id) { if (id.index >= 0) kept_[static_cast<size_t>(id.index)] = true; };
    keep(from_.loss), keep(from_.correct);
    for (const ProgramOutput& out : from_.outputs) keep(out.value), keep(out.count);
  }

  bool comes_again(TensorId id) const {
    return writer(id) >= 0 && segment(writer(id)) != none && !persists(id) && !kept_[static_cast<size_t>(id.index)];
  }

  // What backward operations read, and what is needed to make that, from the last operation to the first.
  void mark_repeated() {
    repeated_.assign(from_.operations.size(), false);
    for (int32_t i = size(); i-- > 0;)
      if (backward(i) || repeated_[static_cast<size_t>(i)])
        for (const TensorId id : operation(i).inputs)
          if (comes_again(id)) repeated_[static_cast<size_t>(writer(id))] = true;
  }

  std::vector<int32_t> segments_read(int32_t i) const {
    std::vector<int32_t> list;
    for (const TensorId id : operation(i).inputs)
      if (comes_again(id)) list.push_back(segment(writer(id)));
    return list;
  }

  void repeat(int32_t number) {
    for (int32_t i = 0; i < size(); ++i)
      if (segment(i) == number && repeated_[static_cast<size_t>(i)]) add_again(i);
  }

  void add_again(int32_t i) {
    Operation op = operation(i);
    op.layer += again_suffix;
    op.phase = Phase::backward;
    // The running statistics have moved already: no share of the same batch comes to them again.
    if (auto* norm = std::get_if<NormAttributes>(&op.attributes)) norm->momentum = 0;
    for (TensorId& id : op.inputs) id = newest(id);
    for (TensorId& id : op.outputs) id = persists(id) ? id : again(id);
    again_place_[i] = static_cast<int32_t>(to_.operations.size());
    to_.operations.push_back(std::move(op));
  }

  TensorId again(TensorId id) {
    Tensor t = from_.tensor(id);
    t.id = TensorId{static_cast<int32_t>(to_.tensors.size())};
    t.name += again_suffix;
    to_.tensors.push_back(t);
    return again_[id] = t.id;
  }

  TensorId newest(TensorId id) const {
    const auto it = again_.find(id);
    return it == again_.end() || !comes_again(id) ? id : it->second;
  }

  void add_original(int32_t i) {
    Operation op = operation(i);
    if (backward(i))
      for (TensorId& id : op.inputs) id = newest(id);
    if (op.forward_op >= 0) {
      const auto it = again_place_.find(op.forward_op);
      op.forward_op = it != again_place_.end() ? it->second : place_[static_cast<size_t>(op.forward_op)];
    }
    place_.push_back(static_cast<int32_t>(to_.operations.size()));
    to_.operations.push_back(std::move(op));
  }

  const Program& from_;
  Program to_;
  std::vector<int32_t> writers_, segments_;
  std::vector<bool> backward_, kept_, repeated_;  // by operation; by tensor; by operation
  std::map<TensorId, TensorId> again_;  // what was computed a second time
  std::map<int32_t, int32_t> again_place_;
  std::vector<int32_t> place_;
};

}  // namespace

Differentiated recompute(const Differentiated& step) {
  if (step.gradients.empty())
    throw Error(Fault::usage, "a program without gradients keeps nothing that could be computed again", "--recompute",
                "use it where something is trained");
  return {Repetition(step).run(), step.gradients};
}

}  // namespace gpusizer
