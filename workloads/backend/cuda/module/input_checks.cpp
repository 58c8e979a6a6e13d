// SPDX-License-Identifier: Apache-2.0
// Which whole numbers operations can work with.
#include "workloads/backend/cuda/module/input_checks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gpusizer/error.hpp"

namespace gpusizer::cuda {

namespace {

bool is_bound(const Program& p, TensorId id) { return p.tensor(id).role == Role::input && p.tensor(id).dtype == DType::i32; }

InputCheck label_check(const Operation& op, TensorId labels, int64_t classes, bool ignores) {
  return {.meaning = InputCheck::Meaning::label, .input = labels, .first = 0, .end = classes, .ignores_negative = ignores,
          .layer = op.layer};
}

InputCheck index_check(const Program& p, const Operation& op) {
  const auto& a = std::get<GatherAttributes>(op.attributes);
  const int64_t rows = p.tensor(op.inputs[0]).shape[0];
  InputCheck check{.meaning = InputCheck::Meaning::index, .input = op.inputs[1], .first = 0,
                   .end = a.part ? a.all_rows : a.group_rows > 0 ? a.group_rows : rows, .ignores_negative = false,
                   .layer = op.layer};
  if (a.group_rows > 0) {
    check.group_indices = a.group_indices;
    check.group_rows = a.group_rows;
    check.source_rows = rows;
  }
  return check;
}

// Words of all parts that come together in a loss over a split vocabulary.
int64_t all_words(const Program& p, const Operation& op) {
  const Shape& parts = p.tensor(op.inputs[1]).shape;
  return p.tensor(op.inputs[0]).shape[1] * (parts.size() == 3 ? parts[0] : 1);
}

void add_checks(const Program& p, const Operation& op, std::vector<InputCheck>& list) {
  if (op.kind == OpKind::softmax_cross_entropy && is_bound(p, op.inputs[1]))
    list.push_back(label_check(op, op.inputs[1], p.tensor(op.inputs[0]).shape[1],
                               std::get<LossAttributes>(op.attributes).ignore_negative));
  if (op.kind == OpKind::vocabulary_loss && is_bound(p, op.inputs[2]))
    list.push_back(label_check(op, op.inputs[2], all_words(p, op),
                               std::get<VocabularyAttributes>(op.attributes).loss.ignore_negative));
  if (op.kind == OpKind::gather_rows && op.inputs.size() > 1 && is_bound(p, op.inputs[1]))
    list.push_back(index_check(p, op));
  if (op.kind != OpKind::attention || !std::get<AttentionAttributes>(op.attributes).masked) return;
  if (is_bound(p, op.inputs[1]))
    list.push_back({.meaning = InputCheck::Meaning::length, .input = op.inputs[1], .first = 1,
                    .end = std::get<AttentionAttributes>(op.attributes).sequence + 1, .ignores_negative = false,
                    .layer = op.layer});
}

bool same(const InputCheck& a, const InputCheck& b) {
  return a.meaning == b.meaning && a.input == b.input && a.first == b.first && a.end == b.end &&
         a.ignores_negative == b.ignores_negative && a.group_indices == b.group_indices && a.group_rows == b.group_rows &&
         a.source_rows == b.source_rows;
}

[[noreturn]] void refuse(const InputCheck& c, int32_t value, int64_t place, int64_t end) {
  switch (c.meaning) {
    case InputCheck::Meaning::label:
      throw Error(Fault::input, fmt::format("label {} of sample {} is not one of the {} classes", value, place, end),
                  "layer " + c.layer, "labels count from 0; give the model as many classes as the data has");
    case InputCheck::Meaning::index:
      throw Error(Fault::input, fmt::format("index {} at place {} is not one of the {} rows", value, place, end),
                  "layer " + c.layer, "indices count from 0; give the model as many rows as the data refers to");
    case InputCheck::Meaning::length: break;
  }
  throw Error(Fault::input, fmt::format("length {} of sample {} is not from 1 to {}", value, place, end - 1),
              "layer " + c.layer, "a sequence has at least one real token and no more than the program's");
}

}  // namespace

std::vector<InputCheck> input_checks(const Program& program) {
  std::vector<InputCheck> all, list;
  for (const Operation& op : program.operations) add_checks(program, op, all);
  // Every layer of attention wants the same of the lengths.
  for (InputCheck& check : all)
    if (std::ranges::none_of(list, [&](const InputCheck& known) { return same(known, check); }))
      list.push_back(std::move(check));
  return list;
}

void check_values(const InputCheck& c, const int32_t* values, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    int64_t end = c.end;
    if (c.group_rows > 0) end = std::min(end, c.source_rows - i / c.group_indices * c.group_rows);
    if (c.ignores_negative && values[i] < 0) continue;
    if (values[i] < c.first || values[i] >= end) refuse(c, values[i], i, end);
  }
}

}  // namespace gpusizer::cuda
