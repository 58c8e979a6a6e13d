// SPDX-License-Identifier: Apache-2.0
// How sums over the rows of a matrix are split: into chunks of rows, whose partial sums are added in a fixed order.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>

#include "workloads/backend/cuda/module/kernels/array.hpp"

namespace gpusizer::cuda {

// [groups * rows, columns], summed by column within each group of rows.
struct ColumnPlan {
  int64_t rows = 0, columns = 0, groups = 1;
  int64_t chunk_rows = 0, chunks = 0;
  unsigned across = 1;  // threads of a block along a row, eight columns each; the others take further rows

  // Depends on the shape alone, so that sums are the same on every device.
  ColumnPlan(int64_t rows_of_a_group, int64_t column_count, int64_t group_count = 1)
      : rows(rows_of_a_group), columns(column_count), groups(group_count) {
    while (across < 32 && across * 8 < columns) across *= 2;
    const int64_t column_blocks = (columns + across * 8 - 1) / (across * 8), down = threads / across;
    const int64_t wanted = std::clamp<int64_t>(512 / (column_blocks * groups), 1, 512);
    chunk_rows = std::max(4 * down, (rows + wanted - 1) / wanted);
    chunks = (rows + chunk_rows - 1) / chunk_rows;
  }
  // Floats for `quantities` partial sums of each column.
  int64_t partial_floats(int quantities) const { return groups * chunks * quantities * columns; }

  static constexpr int threads = 256;
};

// sums[c] = the sum over all rows of x[row, c]. `partials`: plan.partial_floats(1) floats. Bytes moved: those of x.
cudaError_t column_sums(const ColumnPlan& plan, const Array& x, const Array& sums, float* partials, cudaStream_t stream);

}  // namespace gpusizer::cuda
