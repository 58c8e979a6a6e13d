// SPDX-License-Identifier: Apache-2.0
// Biases of fully connected layers where the matrix product does not add them by itself.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "workloads/backend/cuda/module/kernels/array.hpp"

namespace gpusizer::cuda {

// Each row of y [rows, columns] becomes the bias; the product is then added to it and rounded once. Bytes moved: those of y.
cudaError_t fill_rows(const Array& y, const Array& bias, int64_t rows, int64_t columns, cudaStream_t stream);

}  // namespace gpusizer::cuda
