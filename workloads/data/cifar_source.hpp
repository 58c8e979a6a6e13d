// SPDX-License-Identifier: Apache-2.0
// CIFAR-10 in its binary version: 60,000 photographs of 32x32 pixels in ten classes.
#pragma once

#include <filesystem>
#include <memory>

#include "workloads/data/data_options.hpp"

namespace gpusizer {

// `folder` holds data_batch_1.bin .. data_batch_5.bin and test_batch.bin, or a folder cifar-10-batches-bin that does.
// A file is records of 3073 bytes: a label (0 .. 9), then 1024 bytes each of red, green and blue, row by row. Source:
// https://www.cs.toronto.edu/~kriz/cifar.html, "Binary version".
std::unique_ptr<ImageSource> open_cifar10(const std::string& folder, const DataOptions& options);

bool looks_like_cifar10(const std::filesystem::path& folder);

}  // namespace gpusizer
