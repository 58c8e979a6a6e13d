// SPDX-License-Identifier: Apache-2.0
// A folder of JPEG photographs, sorted into one folder per class, as ImageNet is usually unpacked.
#pragma once

#include <filesystem>
#include <memory>

#include "workloads/data/data_options.hpp"

namespace gpusizer {

// `folder` holds train/CLASS/*.jpg and val/CLASS/*.jpg (or test/). Classes are the folders of train/ in alphabetical
// order. Images are decoded whenever they are read; 3x224x224 unless asked otherwise, 3 or 1 channels. In training a
// random part of the picture, possibly mirrored; in evaluation the middle. Orientation tags of cameras are ignored.
// Names that begin with a dot are passed over; other files than .jpg and .jpeg are passed over too, except pictures of
// other formats, which are refused since leaving them out silently would change the data set.
std::unique_ptr<ImageSource> open_image_folder(const std::string& folder, const DataOptions& options);

bool looks_like_image_folder(const std::filesystem::path& folder);

}  // namespace gpusizer
