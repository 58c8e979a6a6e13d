// SPDX-License-Identifier: Apache-2.0
// The GPU's operations by family, one file each under operations/; the table that chooses among them is in operation.cpp.
#pragma once

#include "workloads/backend/cuda/module/operation.hpp"

namespace gpusizer::cuda {

Prepared convolution(const Request& request);
Prepared convolution_backward_data(const Request& request);
Prepared convolution_backward_weights(const Request& request);
Prepared batch_norm(const Request& request);
Prepared batch_norm_backward(const Request& request);
Prepared max_pool(const Request& request);
Prepared max_pool_backward(const Request& request);
Prepared average_pool(const Request& request);
Prepared average_pool_backward(const Request& request);
Prepared flatten(const Request& request);  // and its backward
Prepared linear(const Request& request);
Prepared linear_backward_data(const Request& request);
Prepared linear_backward_weights(const Request& request);
Prepared relu(const Request& request);
Prepared relu_backward(const Request& request);
Prepared add(const Request& request);
Prepared gelu(const Request& request);
Prepared gelu_backward(const Request& request);
Prepared hyperbolic_tangent(const Request& request);
Prepared tangent_backward(const Request& request);
Prepared cast(const Request& request);
Prepared scale(const Request& request);
Prepared scale_by(const Request& request);
Prepared fork(const Request& request);
Prepared drop(const Request& request);
Prepared drop_backward(const Request& request);
Prepared cross_entropy_loss(const Request& request);
Prepared cross_entropy_loss_backward(const Request& request);
Prepared regression(const Request& request);  // mean squared error and pinball
Prepared regression_gradient(const Request& request);
Prepared pick_rows(const Request& request);
Prepared pick_rows_backward(const Request& request);
Prepared swap_two_axes(const Request& request);
Prepared normalize_rows(const Request& request);
Prepared normalize_rows_backward(const Request& request);
Prepared attention(const Request& request);
Prepared attention_backward(const Request& request);
Prepared lstm(const Request& request);
Prepared lstm_backward(const Request& request);
Prepared norm_of_gradients(const Request& request);
Prepared sum_of_squares(const Request& request);
Prepared factor_of_norm(const Request& request);
Prepared step_counter(const Request& request);
Prepared loss_scale(const Request& request);
Prepared quotient(const Request& request);
Prepared label_count(const Request& request);
Prepared update(const Request& request);  // sgd, adam, adagrad, lamb

}  // namespace gpusizer::cuda
