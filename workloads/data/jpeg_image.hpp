// SPDX-License-Identifier: Apache-2.0
// Decodes the part of a JPEG file that a crop needs, already scaled down where the file allows it cheaply.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "workloads/data/crop.hpp"

namespace gpusizer {

// Full-width rows of interleaved bytes; `crop` is where the wanted part lies, in pixels of these rows.
struct PixelRows {
  int64_t width = 0, height = 0, channels = 0;
  std::vector<uint8_t> bytes;  // height x width x channels
  Crop crop;
};

// One file. Everything wrong with it is an Error(input) with `path` and the byte where decoding stood: no JPEG, cut
// short (libjpeg itself only warns and paints the rest grey), damaged data, sides or work out of all proportion.
class JpegImage {
 public:
  // `bytes` and `path` must outlive the image. Reads the header.
  JpegImage(std::span<const uint8_t> bytes, const std::string& path);
  ~JpegImage();

  int64_t width() const;
  int64_t height() const;

  // Once only. Decodes in 3 (red, green, blue) or 1 (grey) channels, at the smallest of the scales 1/8 .. 8/8 at which
  // `crop` still has at least out_width x out_height pixels.
  PixelRows decode(const Crop& crop, int64_t channels, int64_t out_width, int64_t out_height);

 private:
  struct Decoder;  // hides libjpeg
  std::unique_ptr<Decoder> decoder_;
};

}  // namespace gpusizer
