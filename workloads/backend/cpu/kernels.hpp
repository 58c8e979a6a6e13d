// SPDX-License-Identifier: Apache-2.0
// The CPU's kernels by operation family, one file each; the table that chooses among them is in kernel.cpp.
#pragma once

#include "workloads/backend/cpu/kernel.hpp"

namespace gpusizer::cpu {

std::unique_ptr<Kernel> convolution(const KernelRequest& request);
std::unique_ptr<Kernel> convolution_backward_data(const KernelRequest& request);
std::unique_ptr<Kernel> convolution_backward_weights(const KernelRequest& request);
std::unique_ptr<Kernel> pooling(const KernelRequest& request);
std::unique_ptr<Kernel> pooling_backward(const KernelRequest& request);
std::unique_ptr<Kernel> flatten(const KernelRequest& request);  // and its backward
std::unique_ptr<Kernel> batch_norm(const KernelRequest& request);
std::unique_ptr<Kernel> batch_norm_backward(const KernelRequest& request);
std::unique_ptr<Kernel> relu(const KernelRequest& request);
std::unique_ptr<Kernel> relu_backward(const KernelRequest& request);
std::unique_ptr<Kernel> add(const KernelRequest& request);
std::unique_ptr<Kernel> dropout(const KernelRequest& request);  // and its backward
std::unique_ptr<Kernel> gelu(const KernelRequest& request);
std::unique_ptr<Kernel> gelu_backward(const KernelRequest& request);
std::unique_ptr<Kernel> hyperbolic_tangent(const KernelRequest& request);
std::unique_ptr<Kernel> tangent_backward(const KernelRequest& request);
std::unique_ptr<Kernel> scale(const KernelRequest& request);
std::unique_ptr<Kernel> gather_rows(const KernelRequest& request);
std::unique_ptr<Kernel> gather_rows_backward(const KernelRequest& request);
std::unique_ptr<Kernel> swap_axes(const KernelRequest& request);
std::unique_ptr<Kernel> layer_norm(const KernelRequest& request);
std::unique_ptr<Kernel> layer_norm_backward(const KernelRequest& request);
std::unique_ptr<Kernel> attention(const KernelRequest& request);
std::unique_ptr<Kernel> attention_backward(const KernelRequest& request);
std::unique_ptr<Kernel> linear(const KernelRequest& request);
std::unique_ptr<Kernel> linear_backward_data(const KernelRequest& request);
std::unique_ptr<Kernel> linear_backward_weights(const KernelRequest& request);
std::unique_ptr<Kernel> cross_entropy(const KernelRequest& request);
std::unique_ptr<Kernel> cross_entropy_backward(const KernelRequest& request);
std::unique_ptr<Kernel> lstm(const KernelRequest& request);
std::unique_ptr<Kernel> lstm_backward(const KernelRequest& request);
std::unique_ptr<Kernel> mse_loss(const KernelRequest& request);
std::unique_ptr<Kernel> pinball_loss(const KernelRequest& request);
std::unique_ptr<Kernel> regression_backward(const KernelRequest& request);  // of both
std::unique_ptr<Kernel> cast(const KernelRequest& request);
std::unique_ptr<Kernel> record_range(const KernelRequest& request);
std::unique_ptr<Kernel> quantize(const KernelRequest& request);
std::unique_ptr<Kernel> dequantize(const KernelRequest& request);
std::unique_ptr<Kernel> integer_max_pool(const KernelRequest& request);
std::unique_ptr<Kernel> convolution_int8(const KernelRequest& request);
std::unique_ptr<Kernel> linear_int8(const KernelRequest& request);
std::unique_ptr<Kernel> gradient_norm(const KernelRequest& request);
std::unique_ptr<Kernel> count_step(const KernelRequest& request);
std::unique_ptr<Kernel> loss_scale_update(const KernelRequest& request);
std::unique_ptr<Kernel> sgd(const KernelRequest& request);
std::unique_ptr<Kernel> adam(const KernelRequest& request);
std::unique_ptr<Kernel> lamb(const KernelRequest& request);
std::unique_ptr<Kernel> adagrad(const KernelRequest& request);
std::unique_ptr<Kernel> vocabulary_loss_part(const KernelRequest& request);
std::unique_ptr<Kernel> vocabulary_loss(const KernelRequest& request);
std::unique_ptr<Kernel> vocabulary_loss_backward(const KernelRequest& request);
std::unique_ptr<Kernel> batch_norm_statistics(const KernelRequest& request);
std::unique_ptr<Kernel> batch_norm_apply(const KernelRequest& request);
std::unique_ptr<Kernel> batch_norm_sums(const KernelRequest& request);
std::unique_ptr<Kernel> batch_norm_apply_backward(const KernelRequest& request);
std::unique_ptr<Kernel> communication(const KernelRequest& request);  // a CommunicationTask too
std::unique_ptr<Kernel> fork(const KernelRequest& request);
std::unique_ptr<Kernel> count_labels(const KernelRequest& request);
std::unique_ptr<Kernel> divide(const KernelRequest& request);
std::unique_ptr<Kernel> scale_by(const KernelRequest& request);
std::unique_ptr<Kernel> sum_squares(const KernelRequest& request);
std::unique_ptr<Kernel> norm_factor(const KernelRequest& request);

}  // namespace gpusizer::cpu
