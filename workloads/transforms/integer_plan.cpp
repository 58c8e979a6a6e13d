// SPDX-License-Identifier: Apache-2.0
// Finds the layers that integers are used in.
#include "workloads/transforms/integer_plan.hpp"

#include <algorithm>
#include <ranges>

namespace gpusizer {

namespace {

bool is_product(const Program& p, const Operation& op) {
  if (op.kind != OpKind::conv2d && op.kind != OpKind::linear) return false;
  if (op.kind == OpKind::conv2d && std::get<ConvAttributes>(op.attributes).groups != 1) return false;
  return p.tensor(op.inputs[0]).role == Role::activation && p.tensor(op.inputs[1]).role == Role::parameter;
}

}  // namespace

IntegerPlan::IntegerPlan(const Program& program)
    : program_(program),
      readers_(readers(program)),
      absorbed_(program.operations.size(), false),
      wanted_(program.tensors.size(), false),
      never_negative_(program.tensors.size(), false) {
  find_layers();
  mark_signs();
  mark_wanted();
}

int32_t IntegerPlan::only_reader(TensorId id) const {
  const auto& list = readers_[static_cast<size_t>(id.index)];
  return list.size() == 1 ? list[0] : -1;
}

// A convolution takes the addition and the ReLU behind it, a fully connected layer the addition, or the ReLU or GELU.
IntegerLayer IntegerPlan::layer_of(int32_t product) const {
  const auto at = [&](int32_t op) -> const Operation& { return program_.operations[static_cast<size_t>(op)]; };
  const Operation& op = at(product);
  IntegerLayer layer{.product = product, .result = op.outputs[0]};
  int32_t next = only_reader(layer.result);
  if (next >= 0 && at(next).kind == OpKind::add && !absorbed_[static_cast<size_t>(next)] &&
      at(next).inputs[0] != at(next).inputs[1]) {
    layer.add = next;
    layer.residual = at(next).inputs[at(next).inputs[0] == layer.result ? 1 : 0];
    layer.result = at(next).outputs[0];
    next = op.kind == OpKind::conv2d ? only_reader(layer.result) : -1;
  }
  const bool gelu = op.kind == OpKind::linear && next >= 0 && at(next).kind == OpKind::gelu;
  if (gelu || (next >= 0 && at(next).kind == OpKind::relu)) {
    layer.activation = next;
    layer.result = at(next).outputs[0];
  }
  return layer;
}

void IntegerPlan::find_layers() {
  for (int32_t i = 0; i < static_cast<int32_t>(program_.operations.size()); ++i) {
    if (!is_product(program_, program_.operations[static_cast<size_t>(i)])) continue;
    layers_.push_back(layer_of(i));
    for (const int32_t part : {layers_.back().product, layers_.back().add, layers_.back().activation})
      if (part >= 0) absorbed_[static_cast<size_t>(part)] = true;
  }
}

const IntegerLayer* IntegerPlan::ends_at(int32_t op) const {
  const auto it = std::ranges::find_if(layers_, [&](const IntegerLayer& layer) { return layer.last() == op; });
  return it == layers_.end() ? nullptr : &*it;
}

void IntegerPlan::mark_signs() {
  const auto never_negative = [&](TensorId id) -> std::vector<bool>::reference {
    return never_negative_[static_cast<size_t>(id.index)];
  };
  for (const Operation& op : program_.operations) {
    const bool passes = op.kind == OpKind::max_pool || op.kind == OpKind::avg_pool || op.kind == OpKind::flatten;
    if (op.kind == OpKind::relu || (passes && never_negative(op.inputs[0]))) never_negative(op.outputs[0]) = true;
  }
}

// From the end to the start, so that a reader's wish is known before its writer is asked.
void IntegerPlan::mark_wanted() {
  for (auto i = static_cast<int32_t>(program_.operations.size()); i-- > 0;) {
    const Operation& op = program_.operations[static_cast<size_t>(i)];
    if (const IntegerLayer* layer = ends_at(i)) {
      const Operation& product = program_.operations[static_cast<size_t>(layer->product)];
      wanted_[static_cast<size_t>(product.inputs[0].index)] = true;
      if (layer->add >= 0 && product.kind == OpKind::conv2d) wanted_[static_cast<size_t>(layer->residual.index)] = true;
    }
    const bool passes = op.kind == OpKind::max_pool || op.kind == OpKind::flatten;
    const bool bound = !op.inputs.empty() && program_.tensor(op.inputs[0]).role != Role::activation;
    if (passes && !bound && wanted_[static_cast<size_t>(op.outputs[0].index)])
      wanted_[static_cast<size_t>(op.inputs[0].index)] = true;
  }
}

bool IntegerPlan::passes_on(int32_t index) const {
  const Operation& op = program_.operations[static_cast<size_t>(index)];
  return (op.kind == OpKind::max_pool || op.kind == OpKind::flatten) && wants_integers(op.outputs[0]) &&
         wants_integers(op.inputs[0]);
}

std::vector<TensorId> IntegerPlan::ranged() const {
  std::vector<bool> passed(program_.tensors.size(), false);
  for (int32_t i = 0; i < static_cast<int32_t>(program_.operations.size()); ++i)
    if (passes_on(i)) passed[static_cast<size_t>(program_.operations[static_cast<size_t>(i)].outputs[0].index)] = true;
  // The result of a convolution with a residual is made in integers even where nothing else wants them.
  std::vector<bool> wanted = wanted_;
  for (const IntegerLayer& layer : layers_)
    if (layer.add >= 0 && program_.operations[static_cast<size_t>(layer.product)].kind == OpKind::conv2d)
      wanted[static_cast<size_t>(layer.result.index)] = true;
  std::vector<TensorId> list;
  for (const Tensor& t : program_.tensors)
    if (wanted[static_cast<size_t>(t.id.index)] && !passed[static_cast<size_t>(t.id.index)]) list.push_back(t.id);
  return list;
}

}  // namespace gpusizer
