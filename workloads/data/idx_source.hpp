// SPDX-License-Identifier: Apache-2.0
// Images in the IDX format of MNIST: Fashion-MNIST from its Debian package, or any folder with the four standard files.
#pragma once

#include <filesystem>
#include <memory>

#include "workloads/data/data_options.hpp"

namespace gpusizer {

// `folder` holds train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte,
// each plain or as .gz. Classes are 0 .. the largest training label; mean and deviation are measured over the training
// images, whichever split is opened. No mirroring: a mirrored digit is another digit.
std::unique_ptr<ImageSource> open_idx(const std::string& folder, const DataOptions& options);

// 70,000 pictures of clothes, 1x28x28, ten classes. An empty `folder` is that of Debian's dataset-fashion-mnist.
std::unique_ptr<ImageSource> open_fashion_mnist(const std::string& folder, const DataOptions& options);

bool looks_like_idx(const std::filesystem::path& folder);

}  // namespace gpusizer
