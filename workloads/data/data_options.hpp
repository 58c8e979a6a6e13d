// SPDX-License-Identifier: Apache-2.0
// What a caller may ask of a data source: which split, which image shape, how many classes.
#pragma once

#include <cstdint>
#include <string>

#include "workloads/data/image_source.hpp"

namespace gpusizer {

enum class Split { train, test };

struct DataOptions {
  Split split = Split::train;
  // The shape that the model takes; 0 leaves a dimension to the source. Sources with images of one size pad them with
  // black to a larger size and copy one channel to three; any other difference is refused.
  ImageShape wanted{0, 0, 0};
  int64_t classes = 0;            // outputs of the model; 0 leaves it to the source; fewer than the data has is refused
  uint64_t seed = 0;              // of synthetic images
  int64_t synthetic_samples = 0;  // 0: as many as ImageNet has: 1,281,167 or 50,000 (test)
};

// The shape to hand out for images stored as `stored`: padded and with the channel repeated where `wanted` says so.
// Throws Error(usage) naming both shapes and `source` when that cannot be done.
ImageShape fit_shape(const ImageShape& stored, const ImageShape& wanted, const std::string& source);

// Throws Error(usage) when the model has fewer outputs (`wanted`, 0: not said) than the data has classes.
void check_classes(int64_t classes, int64_t wanted, const std::string& source);

}  // namespace gpusizer
