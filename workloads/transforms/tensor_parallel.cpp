// SPDX-License-Identifier: Apache-2.0
// Builds the program of one slice, and takes the forks out again after differentiation.
#include "workloads/transforms/tensor_parallel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "gpusizer/error.hpp"
#include "workloads/transforms/program_copy.hpp"
#include "workloads/transforms/slice_pattern.hpp"

namespace gpusizer {

int64_t SliceGroup::index() const {
  const auto it = std::ranges::find(ranks, rank);
  if (it == ranks.end() || !std::ranges::is_sorted(ranks))
    throw Error(Fault::usage, fmt::format("rank {} is not among the ranks of its slices", rank), "--parallel");
  return it - ranks.begin();
}

namespace {

class Slicing {
 public:
  Slicing(const Program& forward, const SliceGroup& group)
      : from_(forward),
        group_(group),
        index_(group.index()),
        count_(group.count()),
        copy_(forward, "tensor parallelism"),
        pattern_(slice_pattern(forward, group.count())) {}

  Program run() {
    for (size_t i = 0; i < from_.operations.size(); ++i) split_parameters(from_.operations[i], i);
    if (pattern_.words) split(*pattern_.words, 0, 1);
    for (size_t i = 0; i < from_.operations.size(); ++i) add(from_.operations[i], pattern_.work[i]);
    return copy_.finish();
  }

 private:
  const Shape& shape(TensorId id) const { return from_.tensor(id).shape; }

  void split(TensorId id, int64_t axis, int64_t blocks) {
    copy_.split(id, {.whole = shape(id), .axis = axis, .blocks = blocks, .index = index_, .count = count_});
  }

  void split_parameters(const Operation& op, size_t i) {
    const SliceWork work = pattern_.work[i];
    if (work == SliceWork::columns) split(op.inputs[1], 0, pattern_.blocks[i]);
    if (work == SliceWork::rows) split(op.inputs[1], 1, 1);
    const bool bias = op.inputs.size() > 2 && (work == SliceWork::columns || work == SliceWork::word_logits);
    if (bias) split(op.inputs[2], 0, pattern_.blocks[i]);
  }

  void add(const Operation& op, SliceWork work) {
    switch (work) {
      case SliceWork::alike:
        return copy_.copy(op);
      case SliceWork::columns:
      case SliceWork::word_logits:
        return add_columns(op);
      case SliceWork::heads:
        return add_heads(op);
      case SliceWork::rows:
        return add_rows(op);
      case SliceWork::words:
        return add_words(op);
      case SliceWork::word_loss:
        return add_loss(op);
    }
  }

  CollectiveAttributes collective() const { return {.rank = group_.rank, .ranks = group_.ranks}; }

  void add_columns(const Operation& op) {
    std::vector<TensorId> inputs;
    for (const TensorId id : op.inputs) inputs.push_back(copy_.at(id));
    inputs[0] = copy_.builder().apply(OpKind::fork, op.layer + ":fork", {inputs[0]}, collective())[0];
    copy_.replace(op.outputs[0], copy_.builder().apply(op.kind, op.layer, inputs, op.attributes)[0]);
  }

  void add_heads(const Operation& op) {
    auto attributes = std::get<AttentionAttributes>(op.attributes);
    attributes.all_heads = attributes.heads;
    attributes.heads /= count_;
    attributes.first_head = index_ * attributes.heads;
    copy_.copy(op, attributes);
  }

  // The bias is added once: by the first slice, which alone has it.
  void add_rows(const Operation& op) {
    std::vector<TensorId> inputs{copy_.at(op.inputs[0]), copy_.at(op.inputs[1])};
    if (index_ == 0 && op.inputs.size() > 2) inputs.push_back(copy_.at(op.inputs[2]));
    add_summed(op, std::move(inputs), op.attributes);
  }

  void add_words(const Operation& op) {
    auto attributes = std::get<GatherAttributes>(op.attributes);
    attributes.part = true;
    attributes.all_rows = shape(op.inputs[0])[0];
    attributes.first = attributes.all_rows / count_ * index_;
    add_summed(op, {copy_.at(op.inputs[0]), copy_.at(op.inputs[1])}, attributes);
  }

  void add_summed(const Operation& op, std::vector<TensorId> inputs, Attributes attributes) {
    ProgramBuilder& b = copy_.builder();
    const TensorId own = b.apply(op.kind, op.layer, std::move(inputs), std::move(attributes))[0];
    copy_.replace(op.outputs[0], b.apply(OpKind::all_reduce, op.layer, {own}, collective(), Phase::communicate)[0]);
  }

  void add_loss(const Operation& op) {
    ProgramBuilder& b = copy_.builder();
    const TensorId logits = copy_.at(op.inputs[0]), labels = copy_.at(op.inputs[1]);
    const VocabularyAttributes attributes{b.shape(logits)[1] * index_, std::get<LossAttributes>(op.attributes)};
    const TensorId part = b.apply(OpKind::vocabulary_loss_part, op.layer, {logits, labels}, attributes)[0];
    const TensorId parts = b.apply(OpKind::all_gather, op.layer, {part}, collective(), Phase::communicate)[0];
    const auto outputs = b.apply(OpKind::vocabulary_loss, op.layer, {logits, parts, labels}, attributes);
    for (size_t i = 0; i < outputs.size(); ++i) copy_.replace(op.outputs[i], outputs[i]);
  }

  const Program& from_;
  const SliceGroup& group_;
  int64_t index_, count_;
  ProgramCopy copy_;
  SlicePattern pattern_;
};

}  // namespace

Program tensor_parallel(const Program& forward, const SliceGroup& group) {
  group.index();
  return group.count() == 1 ? forward : Slicing(forward, group).run();
}

Program remove_forks(Program program) {
  std::map<TensorId, TensorId> same;
  std::vector<int32_t> place;  // of each operation, without the forks; of a fork that of what comes after it
  std::vector<Operation> kept;
  const auto original = [&](TensorId& id) {
    if (const auto it = same.find(id); it != same.end()) id = it->second;
  };
  const auto read_by = readers(program);
  for (Operation& op : program.operations) {
    place.push_back(static_cast<int32_t>(kept.size()));
    for (TensorId& id : op.inputs) original(id);
    if (op.kind == OpKind::fork)
      same[op.outputs[0]] = op.inputs[0];
    else
      kept.push_back(op);
  }
  // The all_reduce that belongs to a fork belongs to what reads the fork from now on.
  for (Operation& op : kept) {
    if (op.forward_op < 0) continue;
    const Operation& forward = program.operations[static_cast<size_t>(op.forward_op)];
    const auto& after = forward.kind == OpKind::fork ? read_by[static_cast<size_t>(forward.outputs[0].index)]
                                                     : std::vector<int32_t>{op.forward_op};
    op.forward_op = after.empty() ? -1 : place[static_cast<size_t>(after[0])];
  }
  program.operations = std::move(kept);
  original(program.loss);
  check_program(program);
  return program;
}

Differentiated remove_forks(Differentiated step) {
  step.program = remove_forks(std::move(step.program));
  return step;
}

bool counts_on_slice(const Tensor& parameter, int64_t slice) { return parameter.part.has_value() || slice == 0; }

}  // namespace gpusizer
