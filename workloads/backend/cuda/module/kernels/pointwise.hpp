// SPDX-License-Identifier: Apache-2.0
// Kernels that look at one element at a time. Each reads its operands once and writes its result once.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "workloads/backend/cuda/module/kernels/array.hpp"

namespace gpusizer::cuda {

enum class Pointwise : uint8_t {
  copy,           // y = a: casts by the width of y
  scale,          // factor * a
  scale_by,       // *number * a
  relu,           // a clipped at zero; what is no number stays none
  gelu,           // exact, by the error function
  tanh,
  add,            // a + b
  add_relu,       // relu(a + b)
  relu_backward,  // a where b is positive (b: the ReLU's result), else 0
  relu_backward_sum,  // a + c where b is positive
  gelu_backward,  // a times the slope at b
  tanh_backward,  // a (1 - b^2)
};

struct PointwiseCall {
  Pointwise what;
  Array y, a, b{}, c{};
  int64_t count;
  float factor = 1;
  const float* number = nullptr;
};

// Bytes moved: count * (sum of the elements' widths); meant to reach 85 % of the memory's bandwidth from 4 MiB on.
cudaError_t pointwise(const PointwiseCall& call, cudaStream_t stream);

}  // namespace gpusizer::cuda
