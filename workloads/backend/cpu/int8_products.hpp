// SPDX-License-Identifier: Apache-2.0
// The oneDNN primitives of integer convolutions and layers, and how their weights lie.
#pragma once

#include "workloads/backend/cpu/onednn.hpp"
#include "workloads/program/program.hpp"

namespace gpusizer::cpu {

// `batch` replaces that of the program (rows of a layer in proportion), 0: as it is.
dnnl::convolution_forward::primitive_desc int8_convolution(const dnnl::engine& engine, const Program& program,
                                                           const Operation& op, int64_t batch = 0);
dnnl::matmul::primitive_desc int8_product(const dnnl::engine& engine, const Program& program, const Operation& op,
                                          int64_t batch = 0);

// How the weight of an operation on integers lies: as its primitive wants it at the operation's layout_batch, whatever
// the program's own batch is, so that programs of different batches share it.
onednn::Desc int8_weight_desc(const Program& program, const Operation& op);

// More than any such form takes: rows and columns are padded to whole blocks, and sums of the weights are kept beside.
int64_t int8_weight_bytes(const Shape& shape);

}  // namespace gpusizer::cpu
