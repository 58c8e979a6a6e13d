// SPDX-License-Identifier: Apache-2.0
// Which part of a photograph becomes the model's input: a random part in training, the middle in evaluation.
#pragma once

#include <cstdint>

#include "workloads/data/sample_random.hpp"

namespace gpusizer {

// A rectangle in pixels of the full image. `mirrored` exchanges left and right afterwards.
struct Crop {
  double left = 0, top = 0, width = 0, height = 0;
  bool mirrored = false;
};

// A rectangle of 8 to 100 % of the area and a side ratio of 3/4 to 4/3, mirrored every second time. Source: Szegedy et
// al., "Going deeper with convolutions", CVPR 2015, section 6. After ten draws that do not fit: the middle.
Crop random_crop(int64_t image_width, int64_t image_height, SampleRandom& random);

// The middle 224/256 of the largest centred rectangle with the side ratio of the output: the same as resizing until the
// image covers 256/224 of the output and cutting out the middle.
Crop centre_crop(int64_t image_width, int64_t image_height, int64_t out_width, int64_t out_height);

}  // namespace gpusizer
