// SPDX-License-Identifier: Apache-2.0
// The table from operation kinds to CPU kernels. To add one: a function in kernels.hpp and a line here.
#include "workloads/backend/cpu/kernel.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gpusizer/error.hpp"
#include "workloads/backend/cpu/kernels.hpp"
#include "workloads/program/operations.hpp"

namespace gpusizer::cpu {

namespace {

struct Row {
  OpKind kind;
  std::unique_ptr<Kernel> (*make)(const KernelRequest&);
};

constexpr Row table[] = {
    {OpKind::conv2d, convolution},
    {OpKind::conv2d_backward_data, convolution_backward_data},
    {OpKind::conv2d_backward_weights, convolution_backward_weights},
    {OpKind::batch_norm, batch_norm},
    {OpKind::batch_norm_backward, batch_norm_backward},
    {OpKind::relu, relu},
    {OpKind::relu_backward, relu_backward},
    {OpKind::add, add},
    {OpKind::max_pool, pooling},
    {OpKind::max_pool_backward, pooling_backward},
    {OpKind::avg_pool, pooling},
    {OpKind::avg_pool_backward, pooling_backward},
    {OpKind::flatten, flatten},
    {OpKind::flatten_backward, flatten},
    {OpKind::linear, linear},
    {OpKind::linear_backward_data, linear_backward_data},
    {OpKind::linear_backward_weights, linear_backward_weights},
    {OpKind::dropout, dropout},
    {OpKind::dropout_backward, dropout},
    {OpKind::softmax_cross_entropy, cross_entropy},
    {OpKind::softmax_cross_entropy_backward, cross_entropy_backward},
    {OpKind::gelu, gelu},
    {OpKind::gelu_backward, gelu_backward},
    {OpKind::tanh, hyperbolic_tangent},
    {OpKind::tanh_backward, tangent_backward},
    {OpKind::scale, scale},
    {OpKind::gather_rows, gather_rows},
    {OpKind::gather_rows_backward, gather_rows_backward},
    {OpKind::swap_axes, swap_axes},
    {OpKind::layer_norm, layer_norm},
    {OpKind::layer_norm_backward, layer_norm_backward},
    {OpKind::attention, attention},
    {OpKind::attention_backward, attention_backward},
    {OpKind::lstm, lstm},
    {OpKind::lstm_backward, lstm_backward},
    {OpKind::mse_loss, mse_loss},
    {OpKind::mse_loss_backward, regression_backward},
    {OpKind::pinball_loss, pinball_loss},
    {OpKind::pinball_loss_backward, regression_backward},
    {OpKind::cast, cast},
    {OpKind::record_range, record_range},
    {OpKind::quantize, quantize},
    {OpKind::dequantize, dequantize},
    {OpKind::conv2d_int8, convolution_int8},
    {OpKind::linear_int8, linear_int8},
    {OpKind::gradient_norm, gradient_norm},
    {OpKind::count_step, count_step},
    {OpKind::loss_scale_update, loss_scale_update},
    {OpKind::sgd, sgd},
    {OpKind::adam, adam},
    {OpKind::adagrad, adagrad},
    {OpKind::lamb, lamb},
    {OpKind::vocabulary_loss_part, vocabulary_loss_part},
    {OpKind::vocabulary_loss, vocabulary_loss},
    {OpKind::vocabulary_loss_backward, vocabulary_loss_backward},
    {OpKind::batch_norm_statistics, batch_norm_statistics},
    {OpKind::batch_norm_apply, batch_norm_apply},
    {OpKind::batch_norm_sums, batch_norm_sums},
    {OpKind::batch_norm_apply_backward, batch_norm_apply_backward},
    {OpKind::all_reduce, communication},
    {OpKind::delayed_all_reduce, communication},
    {OpKind::reduce_scatter, communication},
    {OpKind::all_gather, communication},
    {OpKind::broadcast, communication},
    {OpKind::send, communication},
    {OpKind::receive, communication},
    {OpKind::fork, fork},
    {OpKind::count_labels, count_labels},
    {OpKind::divide, divide},
    {OpKind::scale_by, scale_by},
    {OpKind::sum_squares, sum_squares},
    {OpKind::norm_factor, norm_factor},
};

}  // namespace

bool KernelRequest::is_read(TensorId id) const {
  return std::ranges::any_of(program.operations,
                             [&](const Operation& o) { return std::ranges::count(o.inputs, id) > 0; });
}

std::unique_ptr<Kernel> make_kernel(const KernelRequest& request) {
  for (const Row& row : table) {
    if (row.kind != request.op.kind) continue;
    try {
      return row.make(request);
    } catch (const dnnl::error& e) {
      throw Error(Fault::failed, fmt::format("oneDNN has no {} for this shape: {}", operation_name(row.kind), e.what()),
                  "layer " + request.op.layer);
    }
  }
  throw Error(Fault::failed, fmt::format("the CPU backend has no {}", operation_name(request.op.kind)),
              "layer " + request.op.layer);
}

}  // namespace gpusizer::cpu
