// SPDX-License-Identifier: Apache-2.0
// Follows what each operation reads, from the first to the last.
#include "workloads/transforms/pipeline_places.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "workloads/transforms/model_blocks.hpp"

namespace gpusizer {

namespace {

constexpr int32_t no_micro_batch = -1;

// The micro-batch in a tensor's name, "images@2" or "fc@2:f16"; no_micro_batch where there is none.
int32_t micro_batch_of(std::string_view name) {
  const size_t at = name.rfind('@');
  if (at == std::string_view::npos) return no_micro_batch;
  int32_t number = no_micro_batch;
  const auto [end, error] = std::from_chars(name.data() + at + 1, name.data() + name.size(), number);
  return error == std::errc{} ? number : no_micro_batch;
}

class Places {
 public:
  Places(const Program& p, const PipelinePlan& plan)
      : p_(p), plan_(plan), made_by_(writers(p)), backward_(after_loss(p)) {}

  std::vector<PipelinePlace> run() {
    for (const Operation& op : p_.operations) {
      PipelinePlace place = place_of(op);
      place.job.backward = backward_[places_.size()];
      places_.push_back(place);
    }
    return std::move(places_);
  }

 private:
  // The places of the operations that made what is read and does not persist.
  std::vector<PipelinePlace> sources(const Operation& op) const {
    std::vector<PipelinePlace> list;
    for (const TensorId id : op.inputs) {
      const int32_t writer = made_by_[static_cast<size_t>(id.index)];
      if (writer >= 0 && !is_persistent(p_.tensor(id).role)) list.push_back(places_[static_cast<size_t>(writer)]);
    }
    return list;
  }

  bool is_number(TensorId id) const { return p_.tensor(id).shape.empty() && p_.tensor(id).dtype != DType::opaque; }
  bool gives_numbers(const Operation& op) const {
    return std::ranges::all_of(op.outputs, [&](TensorId id) { return is_number(id); });
  }

  PipelinePlace place_of(const Operation& op) const {
    auto from = sources(op);
    std::erase_if(from, [](const PipelinePlace& place) { return place.stage == PipelinePlace::everywhere; });
    const auto planned = plan_.stage_of_layer.find(without_again(op.layer));
    const bool counts =
        op.kind == OpKind::count_labels || (from.empty() && gives_numbers(op) && !judges_predictions(op.kind));
    if (op.forward_op >= 0) return with_job(op, from, places_[static_cast<size_t>(op.forward_op)].stage);
    if (counts) return {.early = true};
    if (planned != plan_.stage_of_layer.end() && !gives_numbers_of_others(op, from))
      return with_job(op, from, planned->second);
    if (from.empty() && op.kind == OpKind::cast) return {};
    return with_job(op, from, from.empty() ? 0 : nearest(from));
  }

  // Sums of losses and counts: where what they read is made, whatever they are called.
  bool gives_numbers_of_others(const Operation& op, const std::vector<PipelinePlace>& from) const {
    return !from.empty() && gives_numbers(op) && !judges_predictions(op.kind);
  }

  // Forward results go on, gradients go back: the last, or the first, of the stages that made what is read.
  int32_t nearest(const std::vector<PipelinePlace>& from) const {
    const auto [first, last] = std::ranges::minmax(from, {}, &PipelinePlace::stage);
    return backward_[places_.size()] ? first.stage : last.stage;
  }

  PipelinePlace with_job(const Operation& op, const std::vector<PipelinePlace>& from, int32_t stage) const {
    int32_t micro_batch = 0;
    for (const PipelinePlace& place : from) micro_batch = std::max(micro_batch, place.job.micro_batch);
    if (op.forward_op >= 0)
      micro_batch = std::max(micro_batch, places_[static_cast<size_t>(op.forward_op)].job.micro_batch);
    for (const TensorId id : op.inputs)
      if (p_.tensor(id).role == Role::input) micro_batch = std::max(micro_batch, micro_batch_of(p_.tensor(id).name));
    // What reads parameters alone is told by its own name.
    for (const TensorId id : op.outputs)
      if (from.empty()) micro_batch = std::max(micro_batch, micro_batch_of(p_.tensor(id).name));
    return {.stage = stage, .job = {.micro_batch = micro_batch}};
  }

  const Program& p_;
  const PipelinePlan& plan_;
  std::vector<int32_t> made_by_;
  std::vector<bool> backward_;
  std::vector<PipelinePlace> places_;
};

}  // namespace

std::vector<PipelinePlace> pipeline_places(const Program& program, const PipelinePlan& plan) {
  return Places(program, plan).run();
}

int32_t micro_batch_count(const std::vector<PipelinePlace>& places) {
  int32_t most = 0;
  for (const PipelinePlace& place : places) most = std::max(most, place.job.micro_batch);
  return most + 1;
}

}  // namespace gpusizer
