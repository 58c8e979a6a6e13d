// SPDX-License-Identifier: Apache-2.0
// Describes integer convolutions and layers to oneDNN.
#include "workloads/backend/cpu/int8_products.hpp"

#include <algorithm>

#include "workloads/backend/cpu/layout.hpp"

namespace gpusizer::cpu {

namespace {

Shape with_batch(Shape shape, int64_t batch, int64_t of) {
  if (batch > 0) shape[0] = std::max<int64_t>(1, shape[0] * batch / of);
  return shape;
}

// The results' scale is taken off before the activation where the two may change places: not with GELU.
std::vector<float> sum_scales(const Int8Attributes& a) {
  const bool later = a.to.to == DType::f32 || a.activation == Int8Attributes::Activation::gelu;
  std::vector<float> scales;
  for (const double w : a.weight_scales) scales.push_back(static_cast<float>(a.x_scale * w / (later ? 1 : a.to.scale)));
  return scales;
}

void append_activation(dnnl::post_ops& ops, const Int8Attributes& a) {
  if (a.activation == Int8Attributes::Activation::relu) onednn::append_relu(ops);
  if (a.activation == Int8Attributes::Activation::gelu)
    onednn::append_gelu(ops, a.to.to == DType::f32 ? 1.f : static_cast<float>(1 / a.to.scale));
}

}  // namespace

dnnl::convolution_forward::primitive_desc int8_convolution(const dnnl::engine& engine, const Program& program,
                                                           const Operation& op, int64_t batch) {
  const auto& a = std::get<Int8Attributes>(op.attributes);
  const Tensor &x = program.tensor(op.inputs[0]), &w = program.tensor(op.inputs[1]), &y = program.tensor(op.outputs[0]);
  onednn::ConvShape s;
  s.algorithm = dnnl::algorithm::convolution_direct;
  s.x = channels_last_desc(with_batch(x.shape, batch, program.batch), x.dtype);
  const int64_t groups = a.conv.groups;
  const onednn::Dims grouped{groups, w.shape[0] / groups, w.shape[1], w.shape[2], w.shape[3]};
  s.weight = {groups == 1 ? dims(w.shape) : grouped, dnnl::memory::data_type::s8, dnnl::memory::format_tag::any};
  s.bias = plain_desc({w.shape[0]});
  s.y = channels_last_desc(with_batch(y.shape, batch, program.batch), y.dtype);
  s.stride = {a.conv.stride, a.conv.stride};
  s.padding = {a.conv.padding, a.conv.padding};
  dnnl::post_ops ops;
  if (a.residual) {  // added to what the result's memory holds before
    const bool is_unsigned = program.tensor(op.inputs[3]).dtype == DType::u8;
    ops.append_sum(static_cast<float>(a.residual_scale / a.to.scale),
                   is_unsigned ? dnnl::memory::data_type::u8 : dnnl::memory::data_type::s8);
  }
  append_activation(ops, a);
  return onednn::int8_conv(engine, s, onednn::scaled_results(sum_scales(a), ops));
}

dnnl::matmul::primitive_desc int8_product(const dnnl::engine& engine, const Program& program, const Operation& op,
                                          int64_t batch) {
  const auto& a = std::get<Int8Attributes>(op.attributes);
  const Tensor &x = program.tensor(op.inputs[0]), &w = program.tensor(op.inputs[1]), &y = program.tensor(op.outputs[0]);
  const onednn::Desc weight{{w.shape[1], w.shape[0]}, dnnl::memory::data_type::s8, dnnl::memory::format_tag::any};
  const Shape result = with_batch(y.shape, batch, program.batch);
  dnnl::post_ops ops;
  if (a.residual) ops.append_binary(dnnl::algorithm::binary_add, row_major_desc(result, DType::f32));
  append_activation(ops, a);
  return onednn::matmul(engine, row_major_desc(with_batch(x.shape, batch, program.batch), x.dtype), weight,
                        plain_desc({1, w.shape[0]}), row_major_desc(result, y.dtype),
                        onednn::scaled_results(sum_scales(a), ops));
}

onednn::Desc int8_weight_desc(const Program& program, const Operation& op) {
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  const int64_t batch = std::get<Int8Attributes>(op.attributes).layout_batch;
  return op.kind == OpKind::conv2d_int8 ? int8_convolution(engine, program, op, batch).weights_desc()
                                        : int8_product(engine, program, op, batch).weights_desc();
}

int64_t int8_weight_bytes(const Shape& shape) {
  constexpr int64_t sums = 16;  // bytes of sums beside each row
  int64_t rows = 0;
  for (const int64_t block : {16, 32, 48, 64}) rows = std::max(rows, round_up(shape.at(0), block));
  const int64_t columns = round_up(shape.at(1), shape.size() == 2 ? 64 : 16);
  return rows * (columns * element_count(shape) / (shape[0] * shape[1]) + sums);
}

}  // namespace gpusizer::cpu
