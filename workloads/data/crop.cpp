// SPDX-License-Identifier: Apache-2.0
// The geometry of crops.
#include "workloads/data/crop.hpp"

#include <algorithm>
#include <cmath>

namespace gpusizer {

namespace {
constexpr double least_area = 0.08, least_ratio = 3.0 / 4, largest_ratio = 4.0 / 3;
constexpr int attempts = 10;
constexpr double centre_share = 224.0 / 256;

Crop middle(double image_width, double image_height, double width, double height) {
  return {(image_width - width) / 2, (image_height - height) / 2, width, height, false};
}
}  // namespace

Crop random_crop(int64_t image_width, int64_t image_height, SampleRandom& random) {
  const bool mirrored = random.coin();
  const double full_width = static_cast<double>(image_width), full_height = static_cast<double>(image_height);
  for (int attempt = 0; attempt < attempts; ++attempt) {
    const double area = full_width * full_height * random.uniform(least_area, 1.0);
    const double ratio = std::exp(random.uniform(std::log(least_ratio), std::log(largest_ratio)));
    const double width = std::round(std::sqrt(area * ratio)), height = std::round(std::sqrt(area / ratio));
    if (width < 1 || height < 1 || width > full_width || height > full_height) continue;
    const double left = static_cast<double>(random.below(image_width - static_cast<int64_t>(width) + 1));
    const double top = static_cast<double>(random.below(image_height - static_cast<int64_t>(height) + 1));
    return {left, top, width, height, mirrored};
  }
  const double ratio = std::clamp(full_width / full_height, least_ratio, largest_ratio);
  Crop crop = middle(full_width, full_height, std::min(full_width, full_height * ratio),
                     std::min(full_height, full_width / ratio));
  crop.mirrored = mirrored;
  return crop;
}

Crop centre_crop(int64_t image_width, int64_t image_height, int64_t out_width, int64_t out_height) {
  const double full_width = static_cast<double>(image_width), full_height = static_cast<double>(image_height);
  const double pixels_per_output = centre_share * std::min(full_width / static_cast<double>(out_width),
                                                           full_height / static_cast<double>(out_height));
  return middle(full_width, full_height, pixels_per_output * static_cast<double>(out_width),
                pixels_per_output * static_cast<double>(out_height));
}

}  // namespace gpusizer
