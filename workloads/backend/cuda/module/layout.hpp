// SPDX-License-Identifier: Apache-2.0
// How the tensors of a program lie in a GPU's memory.
#pragma once

#include "workloads/backend/cuda/module/kernels/array.hpp"
#include "workloads/program/tensor.hpp"

namespace gpusizer::cuda {

// Tensors of four dimensions lie with the second one innermost: images [N, C, H, W] as [N, H, W, C], weights of
// convolutions [K, C, R, S] as [K, R, S, C], with their gradients and their optimizer's state. Everything else is
// row-major. Element types take their own bytes; tf32 takes four.
inline bool is_channels_last(const Tensor& t) { return t.shape.size() == 4; }

// Of real numbers. Throws Error(failed) naming the tensor for others.
Element element_of(const Tensor& t);

int64_t stored_bytes(const Tensor& t);

// To a multiple of what every access is happy with.
inline int64_t aligned(int64_t bytes) { return (bytes + 255) / 256 * 256; }

// The tensor as [outer, channels, pixels] on the host and [outer, pixels, channels] on the device.
struct ImageShape {
  int64_t outer, channels, pixels;
};
ImageShape image_shape(const Shape& shape);

}  // namespace gpusizer::cuda
