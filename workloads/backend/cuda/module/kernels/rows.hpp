// SPDX-License-Identifier: Apache-2.0
// Kernels that pick, move and add up whole rows: embeddings and their gradients, exchanged axes, images' layouts.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "workloads/backend/cuda/module/kernels/array.hpp"

namespace gpusizer::cuda {

// Which row of the source a picked row is, as GatherAttributes says it.
struct Picks {
  const int32_t* indices = nullptr;  // or numbered:
  int64_t offset = 0, stride = 1, period = 0;
  int64_t group_indices = 1, group_rows = 0;
  int64_t first = 0;  // of the part of a table that is here
};

struct GatherCall {
  Array picked, source;  // [count, width], [source_rows, width]
  Picks picks;
  int64_t count, source_rows, width;
  int32_t* rows = nullptr;  // workspace of the backward: [count]
};

// Rows outside the source come out as zeros. Bytes moved: those of the picked rows twice; 85 % of the bandwidth.
cudaError_t gather_rows(const GatherCall& call, cudaStream_t stream);
// source = zeros, plus each picked row where it came from, added in the order of the picked rows: no atomics, so the
// same bits every time. Bytes moved: picked rows and source once.
cudaError_t gather_rows_backward(const GatherCall& call, cudaStream_t stream);

// x [outer * inner, row] -> y [inner * outer, row]
struct SwapCall {
  Array y, x;
  int64_t outer, inner, row;
};
cudaError_t swap_axes(const SwapCall& call, cudaStream_t stream);

// [batch, rows, columns] -> [batch, columns, rows], and to another width: between images [N, C, pixels] and
// [N, pixels, C], by tiles in shared memory.
struct TransposeCall {
  Array y, x;
  int64_t batch, rows, columns;
};
cudaError_t transpose(const TransposeCall& call, cudaStream_t stream);

}  // namespace gpusizer::cuda
