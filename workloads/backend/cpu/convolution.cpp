// SPDX-License-Identifier: Apache-2.0
// Convolutions through oneDNN: Winograd where it fits, direct elsewhere.
#include "workloads/backend/cpu/kernels.hpp"
#include "workloads/backend/cpu/primitive_kernel.hpp"

namespace gpusizer::cpu {

namespace {

using dnnl::memory;
using onednn::Desc;
constexpr auto any = memory::format_tag::any;
constexpr auto f32 = memory::data_type::f32;

Desc any_desc(const onednn::Dims& d) { return {d, f32, any}; }

onednn::Dims weight_dims(const Shape& w, int64_t groups) {
  return groups == 1 ? dims(w) : onednn::Dims{groups, w[0] / groups, w[1], w[2], w[3]};
}

// `auto` takes Winograd for 3x3 with stride 1. With less than a block of input channels the direct form is faster
// (measured: 1 -> 64 channels forward 14.1 ms against 2.5 ms).
dnnl::algorithm algorithm_for(int64_t input_channels, int block) {
  return input_channels < block ? dnnl::algorithm::convolution_direct : dnnl::algorithm::convolution_auto;
}

// The shape of the convolution that a forward or backward operation belongs to. An image that is bound plainly keeps its
// layout when it has few channels (oneDNN has kernels for that); all else is in blocks.
onednn::ConvShape conv_shape(const KernelRequest& r, const Shape& x, const Desc& x_desc, const Shape& w, const Shape& y,
                             bool bias) {
  const auto& a = std::get<ConvAttributes>(r.op.attributes);
  onednn::ConvShape s;
  s.algorithm = algorithm_for(x[1] / a.groups, r.layouts.block());
  s.x = x_desc;
  s.weight = any_desc(weight_dims(w, a.groups));
  if (bias) s.bias = plain_desc({w[0]});
  s.y = blocked_desc(y, r.layouts.block());
  s.stride = {a.stride, a.stride};
  s.padding = {a.padding, a.padding};
  return s;
}

Desc image_desc(const KernelRequest& r, const Tensor& x) {
  const bool few = x.shape[1] <= 4;
  return few && !r.layouts.is_blocked(x.id) ? r.layouts.stored(x.id) : blocked_desc(x.shape, r.layouts.block());
}

int64_t groups_of(const KernelRequest& r) { return std::get<ConvAttributes>(r.op.attributes).groups; }

template <typename PrimitiveDesc, typename Primitive>
void set(PrimitiveKernel& kernel, const PrimitiveDesc& pd) {
  kernel.set_primitive([pd] { return Primitive(pd); }, pd.scratchpad_desc());
}

}  // namespace

std::unique_ptr<Kernel> convolution(const KernelRequest& r) {
  const Tensor &x = r.input(0), &w = r.input(1), &y = r.output(0);
  const bool bias = r.op.inputs.size() > 2;
  auto attr = onednn::user_scratchpad();
  if (std::get<ConvAttributes>(r.op.attributes).relu) {
    dnnl::post_ops ops;
    onednn::append_relu(ops);
    attr.set_post_ops(ops);
  }
  const auto shape = conv_shape(r, x.shape, image_desc(r, x), w.shape, y.shape, bias);
  const auto pd = onednn::conv_forward(r.engine.engine, shape, attr);
  auto kernel = std::make_unique<PrimitiveKernel>(r);
  kernel->reads(DNNL_ARG_SRC, x.id, r.layouts.stored(x.id), pd.src_desc());
  kernel->reads(DNNL_ARG_WEIGHTS, w.id, r.layouts.stored_weight(w.id, groups_of(r)), pd.weights_desc());
  if (bias) kernel->reads(DNNL_ARG_BIAS, r.op.inputs[2], r.layouts.stored(r.op.inputs[2]), pd.bias_desc());
  kernel->writes(DNNL_ARG_DST, y.id, r.layouts.stored(y.id), pd.dst_desc());
  set<dnnl::convolution_forward::primitive_desc, dnnl::convolution_forward>(*kernel, pd);
  return kernel;
}

std::unique_ptr<Kernel> convolution_backward_data(const KernelRequest& r) {
  const Tensor &dy = r.input(0), &w = r.input(1), &dx = r.output(0);
  const auto shape = conv_shape(r, dx.shape, blocked_desc(dx.shape, r.layouts.block()), w.shape, dy.shape, false);
  const auto pd = onednn::conv_backward_data(r.engine.engine, shape, onednn::conv_forward(r.engine.engine, shape));
  auto kernel = std::make_unique<PrimitiveKernel>(r);
  kernel->reads(DNNL_ARG_DIFF_DST, dy.id, r.layouts.stored(dy.id), pd.diff_dst_desc());
  kernel->reads(DNNL_ARG_WEIGHTS, w.id, r.layouts.stored_weight(w.id, groups_of(r)), pd.weights_desc());
  kernel->writes(DNNL_ARG_DIFF_SRC, dx.id, r.layouts.stored(dx.id), pd.diff_src_desc());
  set<dnnl::convolution_backward_data::primitive_desc, dnnl::convolution_backward_data>(*kernel, pd);
  return kernel;
}

std::unique_ptr<Kernel> convolution_backward_weights(const KernelRequest& r) {
  const Tensor &x = r.input(0), &dy = r.input(1), &w = r.input(2), &dw = r.output(0);
  const bool bias = r.op.outputs.size() > 1;
  const auto shape = conv_shape(r, x.shape, image_desc(r, x), w.shape, dy.shape, bias);
  const auto pd = onednn::conv_backward_weights(r.engine.engine, shape, onednn::conv_forward(r.engine.engine, shape));
  auto kernel = std::make_unique<PrimitiveKernel>(r);
  kernel->reads(DNNL_ARG_SRC, x.id, r.layouts.stored(x.id), pd.src_desc());
  kernel->reads(DNNL_ARG_DIFF_DST, dy.id, r.layouts.stored(dy.id), pd.diff_dst_desc());
  kernel->writes(DNNL_ARG_DIFF_WEIGHTS, dw.id, r.layouts.stored_weight(dw.id, groups_of(r)), pd.diff_weights_desc());
  if (bias)
    kernel->writes(DNNL_ARG_DIFF_BIAS, r.op.outputs[1], r.layouts.stored(r.op.outputs[1]), pd.diff_bias_desc());
  set<dnnl::convolution_backward_weights::primitive_desc, dnnl::convolution_backward_weights>(*kernel, pd);
  return kernel;
}

}  // namespace gpusizer::cpu
