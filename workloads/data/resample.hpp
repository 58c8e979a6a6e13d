// SPDX-License-Identifier: Apache-2.0
// From a crop of decoded bytes to a normalised float image of the model's size.
#pragma once

#include <span>

#include "workloads/data/jpeg_image.hpp"

namespace gpusizer {

// Bilinear, sampled at pixel centres, edges repeated. Writes rows.channels planes of out_height x out_width values
// byte * scale[channel] + offset[channel] to `image`.
void resample(const PixelRows& rows, int64_t out_width, int64_t out_height, std::span<const float> scale,
              std::span<const float> offset, float* image);

}  // namespace gpusizer
