// SPDX-License-Identifier: Apache-2.0
// Kernels over windows of images [N, H, W, C]: pooling, and convolutions' windows laid out as rows of a matrix.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "workloads/backend/cuda/module/kernels/array.hpp"

namespace gpusizer::cuda {

// An image with windows of `kernel_height` x `kernel_width` that give [out_height, out_width].
struct Windows {
  int64_t batch, height, width, channels;
  int64_t out_height, out_width;
  int64_t kernel_height, kernel_width, stride, padding;
  int64_t groups = 1;  // columns: channels of a group lie together

  int64_t results() const { return batch * out_height * out_width; }
  int64_t taps() const { return kernel_height * kernel_width; }
};

// columns [results, groups, taps, channels / groups] from an image: zeros where a window hangs over. Bytes moved: those of
// the columns, and as many reads mostly from the cache.
cudaError_t image_to_columns(const Windows& windows, const Array& image, const Array& columns, cudaStream_t stream);
// image = the sum of what all windows have for each pixel; in a fixed order.
cudaError_t columns_to_image(const Windows& windows, const Array& columns, const Array& image, cudaStream_t stream);

// `places`: which tap of its window each result is; nullptr where nobody wants to know. At most 256 taps.
cudaError_t max_pool(const Windows& windows, const Array& x, const Array& y, uint8_t* places, cudaStream_t stream);
cudaError_t max_pool_backward(const Windows& windows, const Array& dy, const uint8_t* places, const Array& dx,
                              cudaStream_t stream);
// The mean over the pixels that are inside the image.
cudaError_t average_pool(const Windows& windows, const Array& x, const Array& y, cudaStream_t stream);
cudaError_t average_pool_backward(const Windows& windows, const Array& dy, const Array& dx, cudaStream_t stream);

}  // namespace gpusizer::cuda
