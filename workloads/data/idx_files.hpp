// SPDX-License-Identifier: Apache-2.0
// The two kinds of IDX files: images (three dimensions of bytes) and labels (one).
#pragma once

#include <filesystem>
#include <string>

#include "workloads/data/pixel_source.hpp"

namespace gpusizer {

struct IdxImages {
  std::string path;
  int64_t count = 0, height = 0, width = 0;
  std::vector<uint8_t> pixels;
};

struct IdxLabels {
  std::string path;
  std::vector<uint8_t> labels;
};

// The format, with all numbers big endian: bytes 0 and 1 are zero, byte 2 is the type of a value (8: unsigned byte),
// byte 3 the number of dimensions; a 32-bit length for each dimension; the values. Plain or .gz. Every disagreement
// between header and file is refused with file and offset. Source: Y. LeCun, "THE MNIST DATABASE", section "file
// formats".
IdxImages read_idx_images(const std::filesystem::path& path);
IdxLabels read_idx_labels(const std::filesystem::path& path);

}  // namespace gpusizer
