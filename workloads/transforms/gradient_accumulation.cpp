// SPDX-License-Identifier: Apache-2.0
// Unrolls a differentiated program over micro-batches.
#include "workloads/transforms/gradient_accumulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "gpusizer/error.hpp"
#include "workloads/transforms/loss_shares.hpp"

namespace gpusizer {

namespace {

// How many streams of random numbers the program's dropouts draw from.
uint32_t stream_count(const Program& p) {
  uint32_t count = 0;
  for (const Operation& op : p.operations) {
    if (const auto* d = std::get_if<DropoutAttributes>(&op.attributes)) count = std::max(count, d->stream + 1);
    if (const auto* a = std::get_if<AttentionAttributes>(&op.attributes))
      if (a->rate > 0) count = std::max(count, a->stream + 1);
  }
  return count;
}

void move_stream(Attributes& attributes, uint32_t by) {
  if (auto* d = std::get_if<DropoutAttributes>(&attributes)) d->stream += by;
  if (auto* a = std::get_if<AttentionAttributes>(&attributes))
    if (a->rate > 0) a->stream += by;
}

// Whether all micro-batches use the same tensor.
bool is_shared(const Tensor& t) { return is_persistent(t.role) || t.role == Role::scalar; }

class Unrolling {
 public:
  Unrolling(const Differentiated& step, int64_t count)
      : step_(step), from_(step.program), count_(count), streams_(stream_count(step.program)) {
    to_.name = from_.name;
    to_.batch = from_.batch * count;
    for (const auto& [leaf, gradient] : step.gradients)
      if (from_.tensor(leaf).role == Role::parameter) summed_.insert(gradient);
    collect_results();
  }

  Differentiated run() {
    for (const Tensor& t : from_.tensors)
      if (is_shared(t)) same_[t.id] = add_tensor(t, t.name);
    for (int64_t i = 0; i < count_; ++i) add_micro_batch(i);
    set_results();
    Differentiated result;
    for (const auto& [leaf, gradient] : step_.gradients)
      if (summed_.contains(gradient)) result.gradients.emplace_back(same_.at(leaf), sums_.at(gradient));
    result.program = weigh_losses(std::move(to_), {.micro_batches = static_cast<int32_t>(count_)});
    return result;
  }

 private:
  TensorId add_tensor(Tensor t, const std::string& name) {
    t.id = TensorId{static_cast<int32_t>(to_.tensors.size())};
    t.name = name;
    to_.tensors.push_back(t);
    return t.id;
  }

  // One operation of ours, whose result is like the tensor of the program given.
  TensorId apply(OpKind kind, TensorId like, const std::string& name, std::vector<TensorId> inputs,
                 Attributes attributes) {
    const Tensor& t = from_.tensor(like);
    const TensorId out = add_tensor(t, name);
    const Phase phase = t.role == Role::gradient ? Phase::backward : Phase::forward;
    to_.operations.push_back({kind, name, std::move(inputs), {out}, std::move(attributes), phase});
    return out;
  }

  void add_micro_batch(int64_t index) {
    std::map<TensorId, TensorId> own = same_;
    for (const Tensor& t : from_.tensors)
      if (!is_shared(t)) own[t.id] = add_tensor(t, micro_batch_name(t.name, index));
    std::vector<int32_t> place;
    for (const Operation& op : from_.operations) {
      if (op.phase == Phase::update)
        throw Error(Fault::usage, "gradients must be accumulated before the updates are added", from_.name);
      Operation copy = op;
      for (auto* ids : {&copy.inputs, &copy.outputs})
        for (TensorId& id : *ids) id = own.at(id);
      if (op.forward_op >= 0) copy.forward_op = place[static_cast<size_t>(op.forward_op)];
      move_stream(copy.attributes, streams_ * static_cast<uint32_t>(index));
      place.push_back(static_cast<int32_t>(to_.operations.size()));
      to_.operations.push_back(std::move(copy));
      for (const TensorId id : op.outputs)  // at once, so that the addend's memory is free again
        if (summed_.contains(id) || results_.contains(id)) add_up(id, own.at(id), index);
    }
  }

  // The sum of the micro-batches so far; the last one bears the tensor's own name if it is the result.
  void add_up(TensorId id, TensorId addend, int64_t index) {
    const auto [so_far, first] = sums_.try_emplace(id, addend);
    if (first) return;
    const std::string& name = from_.tensor(id).name;
    const std::string sum = index + 1 == count_ ? name : fmt::format("{}@0..{}", name, index);
    so_far->second = apply(OpKind::add, id, sum, {so_far->second, addend}, AddAttributes{});
  }

  // What people want to see of a step.
  void collect_results() {
    if (!from_.find(from_.tensor(from_.loss).name + ":grad"))
      throw Error(Fault::usage, "the program is not differentiated: its loss has no gradient", from_.name);
    results_.insert(from_.loss);
    if (from_.correct.index >= 0) results_.insert(from_.correct);
    for (const ProgramOutput& out : from_.outputs)
      for (const TensorId id : {out.value, out.count})
        if (id.index >= 0) results_.insert(id);
    const std::vector<int32_t> written = writers(from_);
    for (const TensorId id : results_)
      if (written[static_cast<size_t>(id.index)] < 0)
        throw Error(Fault::usage, fmt::format("no operation makes the result '{}'", from_.tensor(id).name), from_.name);
  }

  // Sums, which the losses' shares make means of means.
  void set_results() {
    to_.loss = sums_.at(from_.loss);
    if (from_.correct.index >= 0) to_.correct = sums_.at(from_.correct);
    for (ProgramOutput out : from_.outputs) {
      out.value = sums_.at(out.value);
      if (out.count.index >= 0) out.count = sums_.at(out.count);
      to_.outputs.push_back(out);
    }
  }

  const Differentiated& step_;
  const Program& from_;
  int64_t count_;
  uint32_t streams_;
  Program to_;
  std::set<TensorId> summed_, results_;       // gradients, results: ids of `from_`
  std::map<TensorId, TensorId> same_, sums_;  // what all micro-batches use; sums so far
};

}  // namespace

std::string micro_batch_name(const std::string& tensor, int64_t micro_batch) {
  return fmt::format("{}@{}", tensor, micro_batch);
}

Differentiated accumulate_gradients(const Differentiated& step, int64_t count) {
  if (count < 1)
    throw Error(Fault::usage, fmt::format("gradients cannot be accumulated over {} micro-batches", count),
                "--accumulate", "use 1 or more");
  return count == 1 ? step : Unrolling(step, count).run();
}

}  // namespace gpusizer
