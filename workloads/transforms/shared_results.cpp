// SPDX-License-Identifier: Apache-2.0
// One all_reduce of everything that a step tells.
#include "workloads/transforms/shared_results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "gpusizer/error.hpp"
#include "workloads/transforms/delayed_sum.hpp"
#include "workloads/transforms/insertion.hpp"

namespace gpusizer {

namespace {

class Sharing {
 public:
  Sharing(Program program, const ResultNames& names, const SharedResultsOptions& options)
      : edit_(std::move(program)), names_(names), o_(options) {
    const Program& p = edit_.program();
    for (const ProgramOutput& out : p.outputs)
      if (!is_known_everywhere(out)) local_.push_back(out);
    if (!local_.empty() && local_.size() != names.outputs.size())
      throw Error(Fault::usage,
                  fmt::format("a step of {} outputs cannot share {}", local_.size(), names.outputs.size()), p.name);
    for (size_t i = 0; i < local_.size(); ++i)
      if (local_[i].name != names.outputs[i].name)
        throw Error(Fault::usage, fmt::format("other ranks do not know the output '{}'", local_[i].name), p.name);
  }

  Program run() {
    const Slots sums = add_up(contributions());
    Program p = edit_.finish();
    std::vector<ProgramOutput> outputs;
    for (const ResultNames::Output& out : names_.outputs)
      outputs.push_back({out.name, sums.at(out.value), out.count < 0 ? TensorId{} : sums.at(out.count), out.summed});
    for (const ProgramOutput& out : p.outputs)
      if (std::ranges::count(local_, out.name, &ProgramOutput::name) == 0) outputs.push_back(out);
    outputs.push_back({"stop_votes", sums.at(votes), {}, true});
    for (ProgramOutput& out : outputs)
      if (out.count.index < 0) out.count = sums.at(samples);
    if (outputs.size() > most_program_outputs)
      throw Error(Fault::usage, fmt::format("{} outputs are more than a program has", outputs.size()), p.name);
    p.outputs = std::move(outputs);
    p.loss = names_.loss < 0 ? TensorId{} : sums.at(names_.loss);
    p.correct = names_.correct < 0 ? TensorId{} : sums.at(names_.correct);
    return p;
  }

 private:
  using Slots = std::map<int32_t, TensorId>;
  static constexpr int32_t samples = -2, votes = -1;  // beside the results, which count from 0

  // What add_optimizer() made: every rank computes it for the whole model.
  bool is_known_everywhere(const ProgramOutput& out) const {
    const int32_t writer = edit_.writer(out.value);
    return writer >= 0 && edit_.operations()[static_cast<size_t>(writer)].phase == Phase::update;
  }

  // What this rank has of each result.
  Slots results() const {
    Slots own;
    const Program& p = edit_.program();
    if (p.loss.index >= 0) own[names_.loss] = p.loss;
    if (p.correct.index >= 0) own[names_.correct] = p.correct;
    for (size_t i = 0; i < local_.size(); ++i) {
      own[names_.outputs[i].value] = local_[i].value;
      if (names_.outputs[i].count >= 0) own[names_.outputs[i].count] = local_[i].count;
    }
    return own;
  }

  // What goes into the sum: the same slots on every rank.
  Slots contributions() {
    Slots own = results();
    for (const auto& [slot, tensor] : own) place_ = std::max(place_, edit_.writer(tensor));
    for (size_t i = 0; i < edit_.operations().size(); ++i)
      if (edit_.operations()[i].phase == Phase::forward) place_ = std::max(place_, static_cast<int32_t>(i));
    const bool contributes = o_.contributes && !own.empty();
    std::set<int32_t> means{names_.loss}, all{names_.loss, names_.correct};
    for (const ResultNames::Output& out : names_.outputs) {
      if (!out.summed) means.insert(out.value);
      all.insert({out.value, out.count});
    }
    all.erase(-1);
    Slots result;
    for (const int32_t slot : all) {
      const auto it = own.find(slot);
      if (!contributes || it == own.end()) result[slot] = edit_.scalar(fmt::format("results:none.{}", slot), 0);
      else result[slot] = means.contains(slot) ? shared_mean(it->second) : it->second;
    }
    // Scalars live by name in all programs of an executor: each batch has its own.
    const int64_t batch = contributes ? edit_.program().batch : 0;
    result[samples] = edit_.scalar(fmt::format("results:samples.{}", batch), static_cast<double>(batch));
    result[votes] = edit_.scalar("stop_vote", 0);
    return result;
  }

  TensorId shared_mean(TensorId value) {
    if (o_.mean_share == 1) return value;
    const std::string layer = edit_.program().tensor(value).name + ":result_share";
    return edit_.apply(place_, OpKind::scale, layer, {value}, ScaleAttributes{o_.mean_share}, Phase::forward)[0];
  }

  std::vector<TensorId> sums_of(const Slots& own) {
    CollectiveAttributes attributes{o_.rank, o_.ranks};
    if (o_.delay) {
      std::vector<DelayedAddend> addends;
      for (const auto& [slot, tensor] : own) addends.push_back({tensor, fmt::format("results.{}", slot)});
      attributes.delay = *o_.delay;
      return add_delayed_sum(edit_, place_, "results", addends, attributes);
    }
    std::vector<TensorId> inputs;
    for (const auto& [slot, tensor] : own) inputs.push_back(tensor);
    return edit_.apply(place_, OpKind::all_reduce, "results", inputs, attributes, Phase::communicate);
  }

  Slots add_up(const Slots& own) {
    const std::vector<TensorId> sums = sums_of(own);
    Slots result;
    size_t next = 0;
    for (const auto& [slot, tensor] : own) result[slot] = sums[next++];
    return result;
  }

  Insertion edit_;
  const ResultNames& names_;
  const SharedResultsOptions& o_;
  std::vector<ProgramOutput> local_;  // that other ranks do not know
  int32_t place_ = -1;                // directly after the forward pass
};

}  // namespace

ResultNames result_names(const Program& whole) {
  std::map<TensorId, int32_t> slots;
  const auto slot = [&](TensorId id) {
    return id.index < 0 ? -1 : slots.try_emplace(id, static_cast<int32_t>(slots.size())).first->second;
  };
  ResultNames names;
  names.loss = slot(whole.loss);
  names.correct = slot(whole.correct);
  for (const ProgramOutput& out : whole.outputs)
    names.outputs.push_back({out.name, slot(out.value), slot(out.count), out.summed});
  return names;
}

// The loss is the first of all results, and add_delayed_sum() names its slots.
std::string delayed_loss_name(int64_t step, int32_t delay) {
  return fmt::format("results.0:delayed.{}", step % (int64_t{delay} + 1));
}

Program share_results(Program program, const ResultNames& names, const SharedResultsOptions& options) {
  return Sharing(std::move(program), names, options).run();
}

}  // namespace gpusizer
