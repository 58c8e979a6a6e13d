// SPDX-License-Identifier: Apache-2.0
// The vector kernels compiled for the baseline instruction set (the flags are in this folder's CMake file).
#include "workloads/backend/cpu/vector/kernels.inc"

namespace gpusizer::cpu {

const VectorKernels vector_kernels_baseline{
    "baseline", lanes, batch_norm_workspace_bytes, batch_norm_forward, batch_norm_backward,
    relu, relu_backward, add, max_pool_forward, max_pool_backward, column_sums, row_kernels,
    attention_kernels, lstm_kernels, round_kernels, update_kernels};

}  // namespace gpusizer::cpu
