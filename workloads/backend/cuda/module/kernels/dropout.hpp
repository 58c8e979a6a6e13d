// SPDX-License-Identifier: Apache-2.0
// Dropout with the words of program/dropout_mask.hpp; what was kept is one bit for each element.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "workloads/backend/cuda/module/kernels/array.hpp"
#include "workloads/backend/cuda/module/kernels/dropout_draw.hpp"

namespace gpusizer::cuda {

struct DropoutCall {
  Array y, x, residual{};  // residual: added to the result where its data is given
  uint8_t* kept = nullptr;  // bits, in the order in which elements lie; written forward where given, read backward
  int64_t count = 0;
  // Elements are numbered as [N, C, pixels]; they lie as [N, pixels, C] where there are pixels (an image).
  int64_t channels = 0, pixels = 0;
  Draw draw{};
};

inline int64_t dropout_saved_bytes(int64_t count) { return (count + 7) / 8; }

// Bytes moved: those of x, y and the residual, and count / 8; 80 % of the bandwidth, as ten rounds of Philox allow.
cudaError_t dropout(const DropoutCall& call, cudaStream_t stream);
// y = x where kept, scaled; nothing else.
cudaError_t dropout_backward(const DropoutCall& call, cudaStream_t stream);

}  // namespace gpusizer::cuda
