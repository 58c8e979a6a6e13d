// SPDX-License-Identifier: Apache-2.0
// Writes the program of integers, operation by operation.
#include "workloads/transforms/quantization.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "gpusizer/error.hpp"
#include "workloads/program/builder.hpp"
#include "workloads/program/operations.hpp"
#include "workloads/transforms/integer_plan.hpp"
#include "workloads/transforms/quantized_weight.hpp"

namespace gpusizer {

namespace {

constexpr const char* range_suffix = ":range";

void require_forward(const Program& program) {
  const auto later = [](const Operation& op) { return op.phase != Phase::forward; };
  if (std::ranges::any_of(program.operations, later))
    throw Error(Fault::usage, "only a program without gradients can be quantised", program.name);
}

// The scale of a tensor's integers. What was 0 in all of the calibration data stays 0.
QuantizeAttributes scale_of(const Tensor& t, bool never_negative, const TensorValues& values) {
  const float range = values_of(values, t.name + range_suffix).at(0);
  if (!std::isfinite(range))
    throw Error(Fault::input, fmt::format("the values of '{}' are not finite and cannot be quantised", t.name));
  const double steps = never_negative ? 255 : 127;
  return {never_negative ? DType::u8 : DType::i8, range > 0 ? std::max<double>(range, 1e-30) / steps : 1};
}

class Quantizer {
 public:
  Quantizer(const Program& program, TensorValues& values, int64_t layout_batch)
      : from_(program),
        values_(values),
        layout_batch_(layout_batch),
        plan_(program),
        builder_(without_operations(program)),
        real_(program.tensors.size()),
        integers_(program.tensors.size()) {
    for (const Tensor& t : program.tensors)
      if (t.role == Role::input || is_persistent(t.role)) real_[at(t.id)] = t.id;
  }

  Program run() {
    for (int32_t i = 0; i < static_cast<int32_t>(from_.operations.size()); ++i) {
      if (const IntegerLayer* layer = plan_.ends_at(i))
        add_layer(*layer);
      else if (plan_.is_absorbed(i))
        continue;
      else if (plan_.passes_on(i))
        pass_on(i);
      else
        copy(i);
    }
    set_results();
    return builder_.finish();
  }

 private:
  struct Integers {
    TensorId id;
    QuantizeAttributes as;
  };

  static size_t at(TensorId id) { return static_cast<size_t>(id.index); }

  // The bound and the persistent tensors keep their ids; all others are made anew.
  static Program without_operations(const Program& program) {
    Program p;
    p.name = program.name;
    p.batch = program.batch;
    p.tensors = program.tensors;
    for (Tensor& t : p.tensors)
      if (t.role != Role::input && !is_persistent(t.role)) t.name += ":before";  // no operation touches them any more
    return p;
  }

  TensorId real(TensorId id) {
    if (!real_[at(id)]) {
      const Integers& known = integers_[at(id)].value();
      const std::string name = from_.tensor(id).name + ":real";
      real_[at(id)] =
          builder_.apply(OpKind::dequantize, name, {known.id}, QuantizeAttributes{DType::f32, known.as.scale})[0];
    }
    return *real_[at(id)];
  }

  QuantizeAttributes scale(TensorId id) const {
    return scale_of(from_.tensor(id), plan_.is_never_negative(id), values_);
  }

  const Integers& integers(TensorId id) {
    if (!integers_[at(id)]) {
      const QuantizeAttributes as = scale(id);
      const std::string name = from_.tensor(id).name + ":integers";
      integers_[at(id)] = {builder_.apply(OpKind::quantize, name, {real(id)}, as)[0], as};
    }
    return *integers_[at(id)];
  }

  void copy(int32_t index) {
    const Operation& op = from_.operations[static_cast<size_t>(index)];
    std::vector<TensorId> inputs;
    for (const TensorId id : op.inputs) inputs.push_back(real(id));
    const auto outputs = builder_.apply(op.kind, op.layer, inputs, op.attributes);
    for (size_t i = 0; i < outputs.size(); ++i) real_[at(op.outputs[i])] = outputs[i];
  }

  void pass_on(int32_t index) {
    const Operation& op = from_.operations[static_cast<size_t>(index)];
    const Integers from = integers(op.inputs[0]);
    const TensorId to = builder_.apply(op.kind, op.layer, {from.id}, op.attributes)[0];
    integers_[at(op.outputs[0])] = {to, from.as};
  }

  void add_layer(const IntegerLayer& layer) {
    const Operation& product = from_.operations[static_cast<size_t>(layer.product)];
    const bool conv = product.kind == OpKind::conv2d;
    const Integers x = integers(product.inputs[0]);
    const QuantizedWeight weight = quantized_weight(product);
    Int8Attributes a{.x_scale = x.as.scale,
                     .weight_scales = weight.scales,
                     .residual = layer.add >= 0,
                     .layout_batch = layout_batch_};
    if (conv) a.conv = std::get<ConvAttributes>(product.attributes);
    if (layer.activation >= 0) a.activation = activation_of(layer);
    if ((conv && a.residual) || (!a.residual && plan_.wants_integers(layer.result))) a.to = scale(layer.result);
    std::vector<TensorId> inputs{x.id, weight_tensor(product), bias_tensor(product, a)};
    if (a.residual && conv) {
      const Integers residual = integers(layer.residual);
      a.residual_scale = residual.as.scale;
      inputs.push_back(residual.id);
    } else if (a.residual) {
      inputs.push_back(real(layer.residual));
    }
    const OpKind kind = conv ? OpKind::conv2d_int8 : OpKind::linear_int8;
    const TensorId result = builder_.apply(kind, product.layer, inputs, a)[0];
    if (a.to.to == DType::f32)
      real_[at(layer.result)] = result;
    else
      integers_[at(layer.result)] = {result, a.to};
  }

  Int8Attributes::Activation activation_of(const IntegerLayer& layer) const {
    const OpKind kind = from_.operations[static_cast<size_t>(layer.activation)].kind;
    return kind == OpKind::gelu ? Int8Attributes::Activation::gelu : Int8Attributes::Activation::relu;
  }

  QuantizedWeight quantized_weight(const Operation& product) const {
    const Tensor& w = from_.tensor(product.inputs[1]);
    return quantize_weight(w.name, values_of(values_, w.name), w.shape.at(0));
  }

  TensorId weight_tensor(const Operation& product) {
    const Tensor& w = from_.tensor(product.inputs[1]);
    const std::string name = w.name + ":i8";
    if (const Tensor* known = builder_.program().find(name)) return known->id;
    values_[name] = quantized_weight(product).integers;
    return builder_.persistent(name, w.shape, Role::state, {}, DType::i8);
  }

  // In units of the products, which differ from layer to layer even where a weight is shared.
  TensorId bias_tensor(const Operation& product, const Int8Attributes& a) {
    std::vector<float> bias(a.weight_scales.size(), 0);
    if (product.inputs.size() > 2) bias = values_of(values_, from_.tensor(product.inputs[2]).name);
    for (size_t k = 0; k < bias.size(); ++k) bias[k] = static_cast<float>(bias[k] / (a.x_scale * a.weight_scales[k]));
    const std::string name = product.layer + ":bias";
    const auto count = static_cast<int64_t>(bias.size());
    values_[name] = std::move(bias);
    return builder_.persistent(name, {count}, Role::state, {});
  }

  void set_results() {
    const auto known = [&](TensorId id) { return id.index >= 0 ? real(id) : id; };
    builder_.set_loss(known(from_.loss), known(from_.correct));
    for (const ProgramOutput& out : from_.outputs)
      builder_.add_output({out.name, known(out.value), known(out.count), out.summed});
  }

  const Program& from_;
  TensorValues& values_;
  int64_t layout_batch_;
  IntegerPlan plan_;
  ProgramBuilder builder_;
  std::vector<std::optional<TensorId>> real_;      // by tensor of the program before: in f32
  std::vector<std::optional<Integers>> integers_;  // and as integers
};

}  // namespace

Program observe_ranges(const Program& program) {
  require_forward(program);
  const std::vector<TensorId> ranged = IntegerPlan(program).ranged();
  ProgramBuilder b{program};
  for (const TensorId id : ranged) {
    const std::string name = program.tensor(id).name + range_suffix;
    b.apply(OpKind::record_range, name, {id, b.persistent(name, {1}, Role::state, {})});
  }
  return b.finish();
}

Program quantize(const Program& program, TensorValues& values, int64_t layout_batch) {
  require_forward(program);
  return Quantizer(program, values, layout_batch).run();
}

double integer_share(const Program& quantized) {
  double integers = 0, all = 0;
  for (const Operation& op : quantized.operations) {
    const auto macs = rule(op.kind).macs;
    if (!macs) continue;
    const auto count = static_cast<double>(macs(quantized, op));
    all += count;
    if (op.kind == OpKind::conv2d_int8 || op.kind == OpKind::linear_int8) integers += count;
  }
  return all > 0 ? integers / all : 0;
}

}  // namespace gpusizer
