// SPDX-License-Identifier: Apache-2.0
// Made-up images for timing: any shape and number of classes, made once before the run, and learnable.
#pragma once

#include <memory>

#include "workloads/data/data_options.hpp"

namespace gpusizer {

// A class is a coarse random pattern, an image is its class's pattern in noise. A small pool of images is made up front
// (a few dozen megabytes) and handed out in turn, so that reading one is a copy. Training and test split share the
// patterns, not the noise. Defaults: 3x224x224, 1000 classes. Augmentation does nothing.
std::unique_ptr<ImageSource> open_synthetic_images(const DataOptions& options);

}  // namespace gpusizer
