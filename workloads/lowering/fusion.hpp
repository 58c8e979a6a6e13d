// SPDX-License-Identifier: Apache-2.0
// The fusion rules that a target can list in its table. To add one: a file under fusion/, and its line here.
#pragma once

#include "workloads/lowering/lowered_program.hpp"

namespace gpusizer {

namespace fusion {
int conv_relu(Program& program);
int batch_norm_relu(Program& program);
int batch_norm_add_relu(Program& program);
int add_relu(Program& program);
int relu_result(Program& program);
int dropout_add(Program& program);
}  // namespace fusion

// A standalone relu_backward reads, after its incoming gradients, either what the forward operation saved (opaque) or,
// after fuse_conv_relu and keep_relu_result, the ReLU's result itself (f32): the tensor's element type tells.
inline constexpr FusionRule fuse_conv_relu{
    "conv+relu", "the convolution clips its result at zero; the backward looks at the result", fusion::conv_relu};
inline constexpr FusionRule fuse_batch_norm_relu{
    "batch_norm+relu", "batch norm and ReLU in one kernel each way", fusion::batch_norm_relu};
inline constexpr FusionRule fuse_batch_norm_add_relu{
    "batch_norm+add+relu", "batch norm, residual and ReLU in one kernel each way, with the sum of two gradients",
    fusion::batch_norm_add_relu};
inline constexpr FusionRule fuse_add_relu{
    "add+relu", "residual and ReLU in one kernel; its backward sums two gradients", fusion::add_relu};
inline constexpr FusionRule keep_relu_result{
    "relu result", "the ReLU's backward looks at its result, so that nothing else is kept", fusion::relu_result};
inline constexpr FusionRule fuse_dropout_add{
    "dropout+add", "dropout and the add of a residual in one kernel", fusion::dropout_add};

}  // namespace gpusizer
