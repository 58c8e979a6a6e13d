// SPDX-License-Identifier: Apache-2.0
// Picking, adding up and moving rows.
#include "workloads/backend/cuda/module/kernels/rows.hpp"

#include "workloads/backend/cuda/module/kernels/lanes.hpp"
#include "workloads/backend/cuda/module/kernels/reduce.hpp"

namespace gpusizer::cuda {

namespace {

constexpr int threads = 256, warps = threads / warp;
constexpr int64_t span = warp * lanes;  // columns that a warp holds at once

// -1: not in this part of the table.
__device__ inline int64_t row_of(const Picks& picks, int64_t source_rows, int64_t i) {
  int64_t row;
  if (picks.indices) {
    row = picks.indices[i] + i / picks.group_indices * picks.group_rows - picks.first;
  } else {
    row = picks.offset + i * picks.stride;
    if (picks.period > 0) row %= picks.period;
  }
  return row >= 0 && row < source_rows ? row : -1;
}

__global__ void __launch_bounds__(threads) gather_kernel(GatherCall call) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * warps + threadIdx.y;
  if (i >= call.count) return;
  const int64_t row = row_of(call.picks, call.source_rows, i);
  const bool whole = call.width % lanes == 0;
  for (int64_t at = static_cast<int64_t>(threadIdx.x) * lanes; at < call.width; at += span) {
    float values[lanes] = {};
    if (row >= 0) read_row(call.source, row, at, call.width, whole, 0, values);
    write_row(call.picked, i, at, call.width, whole, values);
  }
}

__global__ void __launch_bounds__(threads) resolve_kernel(GatherCall call) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x;
  if (i < call.count) call.rows[i] = static_cast<int32_t>(row_of(call.picks, call.source_rows, i));
}

// Whether any of the picked rows before `end` is `row`; the same for all threads of the block.
__device__ inline bool occurs_before(const GatherCall& call, int32_t row, int64_t end) {
  const int64_t thread = static_cast<int64_t>(threadIdx.y) * warp + threadIdx.x;
  for (int64_t from = 0; from < end; from += threads) {
    const int64_t at = from + thread;
    if (__syncthreads_or(at < end && call.rows[at] == row)) return true;
  }
  return false;
}

// The block adds up all picked rows from `from` on that are `row`, a span of columns at a time. In each stretch of
// picked rows the places of those that count are listed in order; warps take them in turn, and are added in order.
__device__ inline void add_up(const GatherCall& call, int32_t row, int64_t from, int64_t column) {
  __shared__ int32_t places[threads];
  __shared__ int listed[warps];
  __shared__ float shared[warps][span];
  const int lane = static_cast<int>(threadIdx.x), which = static_cast<int>(threadIdx.y);
  const bool whole = call.width % lanes == 0;
  const int64_t at = column + lane * lanes;
  float sums[lanes] = {};
  int64_t taken = 0;  // of all listed so far
  for (int64_t first = from; first < call.count; first += threads) {
    const int64_t i = first + which * warp + lane;
    const bool matches = i < call.count && call.rows[i] == row;
    const unsigned ballot = __ballot_sync(whole_warp, matches);
    if (lane == 0) listed[which] = __popc(ballot);
    __syncthreads();
    int before = 0, all = 0;
    for (int w = 0; w < warps; ++w) {
      if (w == which) before = all;
      all += listed[w];
    }
    if (matches) places[before + __popc(ballot & ((1u << lane) - 1))] = static_cast<int32_t>(i);
    __syncthreads();
    for (int k = static_cast<int>((which - taken % warps + warps) % warps); k < all; k += warps) {
      if (at >= call.width) continue;
      float values[lanes];
      read_row(call.picked, places[k], at, call.width, whole, 0, values);
      for (int j = 0; j < lanes; ++j) sums[j] += values[j];
    }
    taken += all;
    __syncthreads();
  }
  for (int j = 0; j < lanes; ++j) shared[which][lane * lanes + j] = sums[j];
  __syncthreads();
  if (which > 0 || at >= call.width) return;
  for (int w = 1; w < warps; ++w)
    for (int j = 0; j < lanes; ++j) sums[j] += shared[w][lane * lanes + j];
  write_row(call.source, row, at, call.width, whole, sums);
}

// A block for each row of the source and span of columns.
__global__ void __launch_bounds__(threads) by_source_kernel(GatherCall call) {
  add_up(call, static_cast<int32_t>(blockIdx.x), 0, static_cast<int64_t>(blockIdx.y) * span);
}

// A block for each picked row: the first one of each source row does the work. The source is zero already.
__global__ void __launch_bounds__(threads) by_pick_kernel(GatherCall call) {
  const int64_t i = blockIdx.x;
  const int32_t row = call.rows[i];
  if (row < 0 || occurs_before(call, row, i)) return;
  add_up(call, row, i, static_cast<int64_t>(blockIdx.y) * span);
}

__global__ void __launch_bounds__(threads) swap_kernel(SwapCall call) {
  const int64_t to = static_cast<int64_t>(blockIdx.x) * warps + threadIdx.y;  // [inner, outer]
  if (to >= call.outer * call.inner) return;
  const int64_t from = to % call.outer * call.inner + to / call.outer;
  const bool whole = call.row % lanes == 0;
  for (int64_t at = static_cast<int64_t>(threadIdx.x) * lanes; at < call.row; at += span) {
    float values[lanes];
    read_row(call.x, from, at, call.row, whole, 0, values);
    write_row(call.y, to, at, call.row, whole, values);
  }
}

constexpr int tile = 32, tile_rows = 8;

__global__ void __launch_bounds__(tile* tile_rows) transpose_kernel(TransposeCall call) {
  __shared__ float shared[tile][tile + 1];
  const int64_t column_tiles = (call.columns + tile - 1) / tile, tiles = (call.rows + tile - 1) / tile * column_tiles;
  const int64_t n = blockIdx.x / tiles, which = blockIdx.x % tiles;
  const int64_t row0 = which / column_tiles * tile, column0 = which % column_tiles * tile, base = n * call.rows * call.columns;
  for (int y = static_cast<int>(threadIdx.y); y < tile; y += tile_rows) {
    const int64_t row = row0 + y, column = column0 + threadIdx.x;
    if (row < call.rows && column < call.columns)
      shared[y][threadIdx.x] = read_one(call.x, base + row * call.columns + column);
  }
  __syncthreads();
  for (int y = static_cast<int>(threadIdx.y); y < tile; y += tile_rows) {
    const int64_t row = row0 + threadIdx.x, column = column0 + y;
    if (row < call.rows && column < call.columns)
      write_one(call.y, base + column * call.rows + row, shared[threadIdx.x][y]);
  }
}

}  // namespace

cudaError_t gather_rows(const GatherCall& call, cudaStream_t stream) {
  return launch(gather_kernel, {blocks_for(call.count, warps), dim3(warp, warps)}, stream, call);
}

cudaError_t gather_rows_backward(const GatherCall& call, cudaStream_t stream) {
  if (const cudaError_t error = launch(resolve_kernel, {blocks_for(call.count, threads), dim3(threads)}, stream, call))
    return error;
  const auto spans = static_cast<unsigned>((call.width + span - 1) / span);
  if (call.source_rows <= call.count)
    return launch(by_source_kernel, {dim3(static_cast<unsigned>(call.source_rows), spans), dim3(warp, warps)}, stream, call);
  const auto bytes = static_cast<size_t>(call.source_rows * call.width * bytes_of(call.source.element));
  if (const cudaError_t error = cudaMemsetAsync(call.source.data, 0, bytes, stream)) return error;
  return launch(by_pick_kernel, {dim3(static_cast<unsigned>(call.count), spans), dim3(warp, warps)}, stream, call);
}

cudaError_t swap_axes(const SwapCall& call, cudaStream_t stream) {
  return launch(swap_kernel, {blocks_for(call.outer * call.inner, warps), dim3(warp, warps)}, stream, call);
}

cudaError_t transpose(const TransposeCall& call, cudaStream_t stream) {
  const int64_t tiles = (call.rows + tile - 1) / tile * ((call.columns + tile - 1) / tile);
  return launch(transpose_kernel, {blocks_for(call.batch * tiles, 1), dim3(tile, tile_rows)}, stream, call);
}

}  // namespace gpusizer::cuda
