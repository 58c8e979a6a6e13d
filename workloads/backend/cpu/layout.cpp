// SPDX-License-Identifier: Apache-2.0
// Chooses the layout of each tensor from what the program does with it.
#include "workloads/backend/cpu/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "gpusizer/error.hpp"
#include "workloads/backend/cpu/int8_products.hpp"
#include "workloads/program/operations.hpp"

namespace gpusizer::cpu {

using dnnl::memory;

int64_t round_up(int64_t value, int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

onednn::Dims dims(const Shape& shape) { return shape.empty() ? onednn::Dims{1} : onednn::Dims(shape.begin(), shape.end()); }

namespace {

memory::data_type stored_type(DType dtype) {
  switch (dtype) {
    case DType::i8: return memory::data_type::s8;
    case DType::u8: return memory::data_type::u8;
    default: return memory::data_type::f32;  // shorter floating-point types too
  }
}

}  // namespace

onednn::Desc plain_desc(const Shape& shape) { return row_major_desc(shape, DType::f32); }

onednn::Desc row_major_desc(const Shape& shape, DType dtype) {
  const onednn::Dims d = dims(shape);
  onednn::Dims strides(d.size(), 1);
  for (size_t i = d.size() - 1; i-- > 0;) strides[i] = strides[i + 1] * d[i + 1];
  return {d, stored_type(dtype), strides};
}

onednn::Desc channels_last_desc(const Shape& shape, DType dtype) {
  return {dims(shape), stored_type(dtype), memory::format_tag::nhwc};
}

onednn::Desc blocked_desc(const Shape& shape, int block) {
  return {dims(shape), memory::data_type::f32, block == 16 ? memory::format_tag::nChw16c : memory::format_tag::nChw8c};
}

namespace {

// Weights that lie in whole blocks for their convolution; with groups each group must fill whole blocks too.
bool fills_blocks(const Shape& weight, int64_t groups, int block) {
  return weight[1] % block == 0 && weight[0] / groups % block == 0;
}

// Operations whose result lies as their first operand does.
bool passes_on(OpKind kind) {
  return kind == OpKind::add || kind == OpKind::scale || kind == OpKind::scale_by || kind == OpKind::cast ||
         kind == OpKind::fork;
}

// The inputs and results of a collective that belong together.
std::vector<std::pair<TensorId, TensorId>> exchanged(const Operation& op) {
  std::vector<std::pair<TensorId, TensorId>> pairs;
  if (op.kind == OpKind::delayed_all_reduce)  // the sums, then what is kept of each in every slot
    for (size_t i = 0; i < op.outputs.size(); ++i) pairs.emplace_back(op.inputs[i % given_inputs(op)], op.outputs[i]);
  if (op.kind != OpKind::all_reduce && op.kind != OpKind::reduce_scatter) return pairs;
  const auto& a = std::get<CollectiveAttributes>(op.attributes);
  for (size_t i = 0, result = 0; i < op.inputs.size() && result < op.outputs.size(); ++i)
    if (op.kind == OpKind::all_reduce || a.owners[i] == a.rank) pairs.emplace_back(op.inputs[i], op.outputs[result++]);
  return pairs;
}

}  // namespace

Layouts::Layouts(const Program& program, int block, const WeightNames& weights)
    : program_(program), block_(block), kind_(program.tensors.size(), Kind::plain) {
  classify(weights);
}

void Layouts::add_weights(WeightNames& names) const {
  for (const Tensor& t : program_.tensors)
    if (is_persistent(t.role) && kind_[static_cast<size_t>(t.id.index)] == Kind::weight) names.insert(t.name);
}

void Layouts::classify(const WeightNames& weights) {
  const auto is_integer = [](const Tensor& t) { return t.dtype == DType::i8 || t.dtype == DType::u8; };
  for (const Tensor& t : program_.tensors)
    if (is_integer(t) && is_persistent(t.role)) kind_[static_cast<size_t>(t.id.index)] = Kind::int8_weight;
    else if (is_integer(t) && t.shape.size() == 4) kind_[static_cast<size_t>(t.id.index)] = Kind::channels_last;
    else if (t.shape.size() == 4 && t.dtype != DType::i32 && t.dtype != DType::opaque &&
        (t.role == Role::activation || t.role == Role::gradient))
      kind_[static_cast<size_t>(t.id.index)] = Kind::blocked;
    else if (is_persistent(t.role) && weights.contains(t.name)) kind_[static_cast<size_t>(t.id.index)] = Kind::weight;
  const auto mark = [&](TensorId weight, TensorId id, const Operation& op) {
    const int64_t groups = std::get<ConvAttributes>(op.attributes).groups;
    kind_[static_cast<size_t>(id.index)] =
        fills_blocks(program_.tensor(weight).shape, groups, block_) ? Kind::weight : Kind::plain;
  };
  for (const Operation& op : program_.operations) {
    if (op.kind == OpKind::conv2d || op.kind == OpKind::conv2d_backward_data) mark(op.inputs[1], op.inputs[1], op);
    if (op.kind == OpKind::conv2d_backward_weights) mark(op.inputs[2], op.outputs[0], op);
  }
  follow_parameters();
}

// Casts of bound images are as plain as these are. A parameter lies as its casts do; its gradients, their sums and the
// optimizer's state lie as the parameter does.
void Layouts::follow_parameters() {
  const auto kind = [&](TensorId id) -> Kind& { return kind_[static_cast<size_t>(id.index)]; };
  for (const Operation& op : program_.operations) {
    if (op.kind != OpKind::cast) continue;
    const Role role = program_.tensor(op.inputs[0]).role;
    if (role == Role::input) kind(op.outputs[0]) = Kind::plain;  // oneDNN is fast on images of few channels so
    if (role == Role::parameter)
      kind(op.inputs[0]) = kind(op.outputs[0]) == Kind::weight ? Kind::weight : Kind::plain;
  }
  follow_gradients();
  std::vector<bool> is_weight(program_.tensors.size(), false);
  for (const Operation& op : program_.operations | std::views::reverse) {
    if (op.inputs.empty() || op.outputs.empty()) continue;  // messages
    const bool update = op.phase == Phase::update && program_.tensor(op.inputs[0]).role == Role::parameter;
    const TensorId like = update ? op.inputs[0] : op.outputs[0];
    if (!update && !(passes_on(op.kind) && is_weight[static_cast<size_t>(like.index)])) continue;
    for (const TensorId id : op.inputs) {
      if (program_.tensor(id).shape != program_.tensor(like).shape) continue;
      kind(id) = kind(like);
      is_weight[static_cast<size_t>(id.index)] = true;
    }
  }
}

// What is made of weights and their gradients lies as they do, whether or not this rank updates the parameter; what
// several ranks exchange must lie alike on all of them.
void Layouts::follow_gradients() {
  std::vector<bool> is_weight(program_.tensors.size(), false);
  const auto follow = [&](TensorId to, TensorId from) {
    if (!is_weight[static_cast<size_t>(from.index)] || program_.tensor(to).shape != program_.tensor(from).shape) return;
    kind_[static_cast<size_t>(to.index)] = kind_[static_cast<size_t>(from.index)];
    is_weight[static_cast<size_t>(to.index)] = true;
  };
  for (const Tensor& t : program_.tensors) is_weight[static_cast<size_t>(t.id.index)] = is_persistent(t.role);
  for (const Operation& op : program_.operations) {
    if (op.kind == OpKind::conv2d_backward_weights) is_weight[static_cast<size_t>(op.outputs[0].index)] = true;
    if (passes_on(op.kind)) follow(op.outputs[0], op.inputs[0]);
    if (op.kind == OpKind::all_gather) kind_[static_cast<size_t>(op.outputs[0].index)] = Kind::plain;
    for (const auto& [input, output] : exchanged(op)) follow(output, input);
  }
}

// A fully connected layer's integers are seen as its product sees them: [in, out].
onednn::Desc Layouts::plain(TensorId id) const {
  const Shape& shape = program_.tensor(id).shape;
  if (kind_[static_cast<size_t>(id.index)] == Kind::int8_weight && shape.size() == 2)
    return {{shape[1], shape[0]}, memory::data_type::f32, {1, shape[1]}};
  return plain_desc(shape);
}

const Operation& Layouts::int8_reader(TensorId weight) const {
  for (const Operation& op : program_.operations)
    if ((op.kind == OpKind::conv2d_int8 || op.kind == OpKind::linear_int8) && op.inputs[1] == weight) return op;
  throw Error(Fault::failed, fmt::format("nothing reads the integers '{}'", program_.tensor(weight).name), program_.name);
}

onednn::Desc Layouts::stored(TensorId id) const {
  const Shape& shape = program_.tensor(id).shape;
  switch (kind_[static_cast<size_t>(id.index)]) {
    case Kind::blocked: return blocked_desc(shape, block_);
    case Kind::weight: return stored_weight(id, 1);
    case Kind::channels_last: return channels_last_desc(shape, program_.tensor(id).dtype);
    case Kind::int8_weight: return int8_weight_desc(program_, int8_reader(id));
    case Kind::plain: break;
  }
  return row_major_desc(shape, program_.tensor(id).dtype);
}

onednn::Desc Layouts::stored_weight(TensorId id, int64_t groups) const {
  using tag = memory::format_tag;
  const Shape& w = program_.tensor(id).shape;
  const onednn::Dims grouped{groups, w[0] / groups, w[1], w[2], w[3]};
  if (kind_[static_cast<size_t>(id.index)] != Kind::weight)
    return groups == 1 ? plain_desc(w) : plain_desc(Shape(grouped.begin(), grouped.end()));
  if (groups == 1)
    return {dims(w), memory::data_type::f32, block_ == 16 ? tag::OIhw16i16o : tag::OIhw8i8o};
  return {grouped, memory::data_type::f32, block_ == 16 ? tag::gOIhw16i16o : tag::gOIhw8i8o};
}

}  // namespace gpusizer::cpu
