// SPDX-License-Identifier: Apache-2.0
// Job by job: receives, operations, sends.
#include "workloads/transforms/pipeline_stage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "gpusizer/error.hpp"
#include "workloads/program/operations.hpp"

namespace gpusizer {

namespace {

std::string message_name(const StageMessage& m) {
  return fmt::format("stage{}>stage{}@{}{}", m.from, m.to, m.job.micro_batch, m.job.backward ? ":grad" : "");
}

bool starts_known(const Tensor& t) { return is_persistent(t.role) || t.role == Role::input || t.role == Role::scalar; }

}  // namespace

StageWriter::StageWriter(const PipelineStep& whole, int32_t stage)
    : whole_(whole),
      from_(whole.step.program),
      stage_(stage),
      made_by_(writers(from_)),
      needed_(from_.operations.size(), false),
      place_(from_.operations.size(), -1) {
  to_.name = from_.name;
  to_.batch = from_.batch;
  for (int32_t i = 0; i < static_cast<int32_t>(from_.operations.size()); ++i) {
    const PipelinePlace& place = whole.places[static_cast<size_t>(i)];
    if (whole.spread.sums.contains(i))
      sums_of_job_[place.job].push_back(i);
    else if (place.stage == stage)
      operations_[place.job].push_back(i);
  }
  for (const auto& list : whole.messages)
    for (const StageMessage& m : list)
      if (m.from == stage) outgoing_.push_back(&m);
}

PipelineStage StageWriter::write() {
  mark_needed();
  write_numbers();
  for (size_t job = 0; job < whole_.orders[static_cast<size_t>(stage_)].size(); ++job) write_job(job);
  if (const Tensor* scale = from_.find("loss_scale")) here(scale->id);  // all stages' gradients carry it
  if (stage_ == whole_.last_stage()) set_results();
  set_gradients();
  check_program(to_);
  result_.step.program = std::move(to_);
  return std::move(result_);
}

TensorId StageWriter::add_tensor(Tensor tensor) {
  tensor.id = TensorId{static_cast<int32_t>(to_.tensors.size())};
  to_.tensors.push_back(std::move(tensor));
  return to_.tensors.back().id;
}

// The tensor on this stage; what can be anywhere is brought here.
TensorId StageWriter::here(TensorId id) {
  if (const auto it = here_.find(id); it != here_.end()) return it->second;
  const Tensor& t = from_.tensor(id);
  const int32_t writer = made_by_[static_cast<size_t>(id.index)];
  if (starts_known(t)) return here_[id] = add_tensor(t);
  if (writer < 0 || whole_.places[static_cast<size_t>(writer)].stage != PipelinePlace::everywhere)
    throw Error(Fault::failed, fmt::format("stage {} reads '{}' before it is there", stage_, t.name), from_.name);
  write_operation(writer);
  return here_.at(id);
}

// Of what is everywhere, what this stage's operations and results depend on; what ranks exchange is the last stage's.
void StageWriter::mark_needed() {
  std::vector<bool> wanted(from_.tensors.size(), false);
  const auto want = [&](TensorId id) {
    if (id.index >= 0) wanted[static_cast<size_t>(id.index)] = true;
  };
  const bool last = stage_ == whole_.last_stage();
  if (last) {
    want(from_.loss), want(from_.correct);
    for (const ProgramOutput& out : from_.outputs) want(out.value), want(out.count);
  }
  for (size_t i = from_.operations.size(); i-- > 0;) {
    const Operation& op = from_.operations[i];
    const bool anywhere = whole_.places[i].stage == PipelinePlace::everywhere;
    const auto is_wanted = [&](TensorId id) { return wanted[static_cast<size_t>(id.index)]; };
    needed_[i] = anywhere && (std::ranges::any_of(op.outputs, is_wanted) || (last && rule(op.kind).reaches_others));
    if (needed_[i] || whole_.places[i].stage == stage_) std::ranges::for_each(op.inputs, want);
  }
}

void StageWriter::write_numbers() {
  for (size_t i = 0; i < needed_.size(); ++i)
    if (needed_[i] && whole_.places[i].early && place_[i] < 0) write_operation(static_cast<int32_t>(i));
}

void StageWriter::write_job(size_t number) {
  const PipelineJob job = whole_.orders[static_cast<size_t>(stage_)][number];
  for (const StageMessage& m : whole_.messages[static_cast<size_t>(stage_)])
    if (m.received_at == number) write_receive(m);
  for (const int32_t i : operations_[job]) {
    write_operation(i);
    send_what_is_ready(job);
  }
  for (const int32_t i : sums_of_job_[job]) add_up(i);
}

void StageWriter::write_operation(int32_t index) {
  Operation op = from_.operations[static_cast<size_t>(index)];
  for (TensorId& id : op.inputs) id = here(id);
  for (TensorId& id : op.outputs) id = is_here(id) ? here_.at(id) : here_[id] = add_tensor(from_.tensor(id));
  if (op.forward_op >= 0) op.forward_op = place_[static_cast<size_t>(op.forward_op)];
  place_[static_cast<size_t>(index)] = static_cast<int32_t>(to_.operations.size());
  to_.operations.push_back(std::move(op));
}

void StageWriter::write_receive(const StageMessage& m) {
  MessageAttributes attributes{.peer = whole_.ranks[static_cast<size_t>(m.from)], .sends_before = m.sends_before};
  std::vector<TensorId> outputs;
  for (const TensorId id : m.contents) {
    const Tensor& t = from_.tensor(id);
    attributes.contents.push_back({t.name, t.shape, t.dtype, t.role});
    outputs.push_back(here_[id] = add_tensor(t));
  }
  to_.operations.push_back(
      {OpKind::receive, message_name(m), {}, std::move(outputs), std::move(attributes), Phase::communicate});
}

void StageWriter::send_what_is_ready(const PipelineJob& job) {
  std::erase_if(outgoing_, [&](const StageMessage* m) {
    if (m->job != job || !std::ranges::all_of(m->contents, [&](TensorId id) { return is_here(id); })) return false;
    std::vector<TensorId> inputs;
    for (const TensorId id : m->contents) inputs.push_back(here_.at(id));
    MessageAttributes attributes{.peer = whole_.ranks[static_cast<size_t>(m->to)]};
    to_.operations.push_back(
        {OpKind::send, message_name(*m), std::move(inputs), {}, std::move(attributes), Phase::communicate});
    return true;
  });
}

std::optional<TensorId> StageWriter::addend(TensorId id) const {
  if (const auto it = sums_.find(id); it != sums_.end()) return it->second;
  const int32_t writer = made_by_[static_cast<size_t>(id.index)];
  if (writer < 0 || whole_.places[static_cast<size_t>(writer)].stage != stage_) return std::nullopt;
  const auto it = here_.find(id);
  return it == here_.end() ? std::nullopt : std::optional(it->second);
}

// This stage's part of a sum whose addends are on several: where it has both, it adds them as one rank would.
void StageWriter::add_up(int32_t sum) {
  Operation op = from_.operations[static_cast<size_t>(sum)];
  const TensorId whole = op.outputs[0];
  const auto first = addend(op.inputs[0]), second = addend(op.inputs[1]);
  if (!first || !second) {
    if (first || second) sums_[whole] = first ? *first : *second;
    return;
  }
  op.inputs = {*first, *second};
  op.outputs = {add_tensor(from_.tensor(whole))};
  sums_[whole] = op.outputs[0];
  to_.operations.push_back(std::move(op));
}

void StageWriter::set_results() {
  if (from_.loss.index >= 0) to_.loss = here(from_.loss);
  if (from_.correct.index >= 0) to_.correct = here(from_.correct);
  for (ProgramOutput out : from_.outputs) {
    out.value = here(out.value);
    if (out.count.index >= 0) out.count = here(out.count);
    to_.outputs.push_back(out);
  }
}

// What stages exchange has one element type: f32.
TensorId StageWriter::exact(TensorId gradient) {
  Tensor t = to_.tensor(gradient);
  if (t.dtype == DType::f32) return gradient;
  t.name += ":f32";
  t.dtype = DType::f32;
  const TensorId to = add_tensor(t);
  to_.operations.push_back({OpKind::cast, t.name, {gradient}, {to}, CastAttributes{DType::f32}, Phase::backward});
  return to;
}

void StageWriter::set_gradients() {
  auto& gradients = result_.step.gradients;
  for (const auto& [parameter, gradient] : whole_.step.gradients) {
    const auto tied = whole_.spread.stages.find(parameter);
    if (tied != whole_.spread.stages.end()) {
      result_.tied[from_.tensor(parameter).name] = tied->second;
      if (const auto own = sums_.find(gradient); own != sums_.end())
        gradients.emplace_back(here(parameter), exact(own->second));
    } else if (const auto it = here_.find(gradient); it != here_.end()) {
      const int32_t writer = made_by_[static_cast<size_t>(gradient.index)];
      if (writer >= 0 && whole_.places[static_cast<size_t>(writer)].stage == stage_)
        gradients.emplace_back(here(parameter), it->second);
    }
  }
  const auto made_by = writers(to_);
  std::ranges::stable_sort(gradients, {},
                           [&](const auto& pair) { return made_by[static_cast<size_t>(pair.second.index)]; });
}

}  // namespace gpusizer
