// SPDX-License-Identifier: Apache-2.0
// The table from operation kinds to the GPU's operations. To add one: a function in operations.hpp and a line here.
#include "workloads/backend/cuda/module/operation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gpusizer/error.hpp"
#include "workloads/backend/cuda/module/operations.hpp"
#include "workloads/program/operations.hpp"

namespace gpusizer::cuda {

namespace {

struct Row {
  OpKind kind;
  Prepared (*prepare)(const Request&);
};

// What is not here is refused when a program is lowered.
constexpr Row table[] = {
    {OpKind::conv2d, convolution},
    {OpKind::conv2d_backward_data, convolution_backward_data},
    {OpKind::conv2d_backward_weights, convolution_backward_weights},
    {OpKind::batch_norm, batch_norm},
    {OpKind::batch_norm_backward, batch_norm_backward},
    {OpKind::relu, relu},
    {OpKind::relu_backward, relu_backward},
    {OpKind::add, add},
    {OpKind::max_pool, max_pool},
    {OpKind::max_pool_backward, max_pool_backward},
    {OpKind::avg_pool, average_pool},
    {OpKind::avg_pool_backward, average_pool_backward},
    {OpKind::flatten, flatten},
    {OpKind::flatten_backward, flatten},
    {OpKind::linear, linear},
    {OpKind::linear_backward_data, linear_backward_data},
    {OpKind::linear_backward_weights, linear_backward_weights},
    {OpKind::dropout, drop},
    {OpKind::dropout_backward, drop_backward},
    {OpKind::softmax_cross_entropy, cross_entropy_loss},
    {OpKind::softmax_cross_entropy_backward, cross_entropy_loss_backward},
    {OpKind::gather_rows, pick_rows},
    {OpKind::gather_rows_backward, pick_rows_backward},
    {OpKind::swap_axes, swap_two_axes},
    {OpKind::layer_norm, normalize_rows},
    {OpKind::layer_norm_backward, normalize_rows_backward},
    {OpKind::gelu, gelu},
    {OpKind::gelu_backward, gelu_backward},
    {OpKind::tanh, hyperbolic_tangent},
    {OpKind::tanh_backward, tangent_backward},
    {OpKind::attention, attention},
    {OpKind::attention_backward, attention_backward},
    {OpKind::mse_loss, regression},
    {OpKind::mse_loss_backward, regression_gradient},
    {OpKind::pinball_loss, regression},
    {OpKind::pinball_loss_backward, regression_gradient},
    {OpKind::cast, cast},
    {OpKind::scale, scale},
    {OpKind::gradient_norm, norm_of_gradients},
    {OpKind::count_step, step_counter},
    {OpKind::loss_scale_update, loss_scale},
    {OpKind::sgd, update},
    {OpKind::adam, update},
    {OpKind::adagrad, update},
    {OpKind::lamb, update},
    {OpKind::fork, fork},
    {OpKind::count_labels, label_count},
    {OpKind::divide, quotient},
    {OpKind::scale_by, scale_by},
    {OpKind::sum_squares, sum_of_squares},
    {OpKind::norm_factor, factor_of_norm},
};

}  // namespace

bool Request::is_read(TensorId id) const {
  return std::ranges::any_of(program.operations,
                             [&](const Operation& o) { return std::ranges::count(o.inputs, id) > 0; });
}

void Request::refuse(const std::string& why) const {
  throw Error(Fault::failed, fmt::format("the CUDA backend cannot run {}: {}", operation_name(op.kind), why),
              "layer " + op.layer);
}

Prepared prepare(const Request& request) {
  const auto row = std::ranges::find(table, request.op.kind, &Row::kind);
  if (row == std::end(table)) request.refuse("there is no kernel for it yet");
  return row->prepare(request);
}

}  // namespace gpusizer::cuda
