// SPDX-License-Identifier: Apache-2.0
// What differs between oneDNN 2.x and 3.x, in one place: the rest of this folder is written against these functions.
#pragma once

#include <dnnl.hpp>

namespace gpusizer::onednn {

using Dims = dnnl::memory::dims;
using Desc = dnnl::memory::desc;

struct ConvShape {
  dnnl::algorithm algorithm;
  Desc x, weight, bias, y;  // bias: zero() when there is none
  Dims stride, padding;
};

struct PoolShape {
  dnnl::algorithm algorithm;
  Desc x, y;
  Dims stride, kernel, padding, padding_end;
};

inline dnnl::primitive_attr user_scratchpad() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

// Whether products of eight-bit integers are summed exactly. Without instructions for them (VNNI) pairs of products are
// summed in 16 bits, which overflow.
inline bool sums_integers_exactly() {
  switch (dnnl::get_effective_cpu_isa()) {
    case dnnl::cpu_isa::sse41:
    case dnnl::cpu_isa::avx:
    case dnnl::cpu_isa::avx2:
    case dnnl::cpu_isa::avx512_core: return false;
    default: return true;
  }
}

#if DNNL_VERSION_MAJOR >= 3

inline void append_relu(dnnl::post_ops& ops) { ops.append_eltwise(dnnl::algorithm::eltwise_relu, 0.f, 0.f); }

// Products of integers are described in the words of 2.x below; 3.x has other ones, which nobody has tried here yet.
[[noreturn]] inline void refuse_int8() {
  throw dnnl::error(dnnl_unimplemented, "products of integers are made for oneDNN 2.x");
}
inline void append_gelu(dnnl::post_ops&, float) { refuse_int8(); }
inline dnnl::primitive_attr scaled_results(const std::vector<float>&, const dnnl::post_ops&) { refuse_int8(); }
inline dnnl::convolution_forward::primitive_desc int8_conv(const dnnl::engine&, const ConvShape&,
                                                           const dnnl::primitive_attr&) {
  refuse_int8();
}
inline dnnl::reorder::primitive_desc scaled_reorder(const dnnl::engine&, const Desc&, const Desc&, float) { refuse_int8(); }

inline dnnl::convolution_forward::primitive_desc conv_forward(const dnnl::engine& e, const ConvShape& s,
                                                              const dnnl::primitive_attr& attr = user_scratchpad()) {
  return {e, dnnl::prop_kind::forward_training, s.algorithm, s.x, s.weight, s.bias, s.y, s.stride, s.padding, s.padding,
          attr};
}
inline dnnl::convolution_backward_data::primitive_desc conv_backward_data(
    const dnnl::engine& e, const ConvShape& s, const dnnl::convolution_forward::primitive_desc& forward) {
  return {e, s.algorithm, s.x, s.weight, s.y, s.stride, s.padding, s.padding, forward, user_scratchpad()};
}
inline dnnl::convolution_backward_weights::primitive_desc conv_backward_weights(
    const dnnl::engine& e, const ConvShape& s, const dnnl::convolution_forward::primitive_desc& forward) {
  return {e, s.algorithm, s.x, s.weight, s.bias, s.y, s.stride, s.padding, s.padding, forward, user_scratchpad()};
}
inline dnnl::pooling_forward::primitive_desc pool_forward(const dnnl::engine& e, const PoolShape& s) {
  return {e, dnnl::prop_kind::forward_training, s.algorithm, s.x, s.y, s.stride, s.kernel, {0, 0}, s.padding,
          s.padding_end, user_scratchpad()};
}
inline dnnl::pooling_backward::primitive_desc pool_backward(const dnnl::engine& e, const PoolShape& s,
                                                            const dnnl::pooling_forward::primitive_desc& forward) {
  return {e, s.algorithm, s.x, s.y, s.stride, s.kernel, {0, 0}, s.padding, s.padding_end, forward, user_scratchpad()};
}
inline dnnl::matmul::primitive_desc matmul(const dnnl::engine& e, const Desc& a, const Desc& b, const Desc& bias,
                                           const Desc& c, const dnnl::primitive_attr& attr = user_scratchpad()) {
  return {e, a, b, bias, c, attr};
}
inline bool is_empty(const Desc& d) { return d.is_zero(); }

#else

inline void append_relu(dnnl::post_ops& ops) { ops.append_eltwise(1.f, dnnl::algorithm::eltwise_relu, 0.f, 0.f); }
inline bool is_empty(const Desc& d) { return d.is_zero(); }

// The result is factor * gelu(sum).
inline void append_gelu(dnnl::post_ops& ops, float factor) {
  ops.append_eltwise(factor, dnnl::algorithm::eltwise_gelu_erf, 0.f, 0.f);
}
// Sums of products in channel k are multiplied by scales[k] before the other operations.
inline dnnl::primitive_attr scaled_results(const std::vector<float>& scales, const dnnl::post_ops& ops) {
  dnnl::primitive_attr attr = user_scratchpad();
  constexpr int by_channel = 1 << 1;
  attr.set_output_scales(by_channel, scales);
  attr.set_post_ops(ops);
  return attr;
}
inline dnnl::convolution_forward::primitive_desc int8_conv(const dnnl::engine& e, const ConvShape& s,
                                                           const dnnl::primitive_attr& attr) {
  return {dnnl::convolution_forward::desc(dnnl::prop_kind::forward_inference, s.algorithm, s.x, s.weight, s.bias, s.y,
                                          s.stride, s.padding, s.padding), attr, e};
}
// Multiplies by the factor; what has no room in the result's type becomes its nearest value.
inline dnnl::reorder::primitive_desc scaled_reorder(const dnnl::engine& e, const Desc& from, const Desc& to, float factor) {
  dnnl::primitive_attr attr = user_scratchpad();
  attr.set_output_scales(0, {factor});
  return {e, from, e, to, attr};
}

inline dnnl::convolution_forward::primitive_desc conv_forward(const dnnl::engine& e, const ConvShape& s,
                                                              const dnnl::primitive_attr& attr = user_scratchpad()) {
  using Forward = dnnl::convolution_forward;
  const auto kind = dnnl::prop_kind::forward_training;
  if (is_empty(s.bias))
    return {Forward::desc(kind, s.algorithm, s.x, s.weight, s.y, s.stride, s.padding, s.padding), attr, e};
  return {Forward::desc(kind, s.algorithm, s.x, s.weight, s.bias, s.y, s.stride, s.padding, s.padding), attr, e};
}
inline dnnl::convolution_backward_data::primitive_desc conv_backward_data(
    const dnnl::engine& e, const ConvShape& s, const dnnl::convolution_forward::primitive_desc& forward) {
  const dnnl::convolution_backward_data::desc d(s.algorithm, s.x, s.weight, s.y, s.stride, s.padding, s.padding);
  return {d, user_scratchpad(), e, forward};
}
inline dnnl::convolution_backward_weights::primitive_desc conv_backward_weights(
    const dnnl::engine& e, const ConvShape& s, const dnnl::convolution_forward::primitive_desc& forward) {
  using Backward = dnnl::convolution_backward_weights;
  if (is_empty(s.bias))
    return {Backward::desc(s.algorithm, s.x, s.weight, s.y, s.stride, s.padding, s.padding), user_scratchpad(), e, forward};
  return {Backward::desc(s.algorithm, s.x, s.weight, s.bias, s.y, s.stride, s.padding, s.padding), user_scratchpad(), e,
          forward};
}
inline dnnl::pooling_forward::primitive_desc pool_forward(const dnnl::engine& e, const PoolShape& s) {
  const dnnl::pooling_forward::desc d(dnnl::prop_kind::forward_training, s.algorithm, s.x, s.y, s.stride, s.kernel,
                                      s.padding, s.padding_end);
  return {d, user_scratchpad(), e};
}
inline dnnl::pooling_backward::primitive_desc pool_backward(const dnnl::engine& e, const PoolShape& s,
                                                            const dnnl::pooling_forward::primitive_desc& forward) {
  const dnnl::pooling_backward::desc d(s.algorithm, s.x, s.y, s.stride, s.kernel, s.padding, s.padding_end);
  return {d, user_scratchpad(), e, forward};
}
inline dnnl::matmul::primitive_desc matmul(const dnnl::engine& e, const Desc& a, const Desc& b, const Desc& bias,
                                           const Desc& c, const dnnl::primitive_attr& attr = user_scratchpad()) {
  if (is_empty(bias)) return {dnnl::matmul::desc(a, b, c), attr, e};
  return {dnnl::matmul::desc(a, b, bias, c), attr, e};
}

#endif

}  // namespace gpusizer::onednn
