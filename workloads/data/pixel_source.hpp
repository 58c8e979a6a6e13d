// SPDX-License-Identifier: Apache-2.0
// Images of one size kept in memory as bytes, and turned into normalised floats when they are read.
#pragma once

#include "workloads/data/data_options.hpp"

namespace gpusizer {

// Images (CHW bytes, one after the other) and their labels.
struct PixelTable {
  ImageShape shape;
  std::vector<uint8_t> pixels;
  std::vector<uint8_t> labels;
};

// value = (byte / 255 - mean) / deviation, per channel.
struct Normalisation {
  std::vector<double> mean, deviation;
  std::string origin;  // where the figures come from
};

// What a random change of a training image may be.
struct Augmentation {
  int64_t most_shift = 0;  // pixels up, down, left and right; what comes in is black
  bool flip = false;       // left and right exchanged, every second time
};

// Mean and deviation over all pixels of a table, per channel.
Normalisation measure_normalisation(const PixelTable& table, std::string origin);

class PixelSource final : public ImageSource {
 public:
  // `facts` needs name, location, classes and class names; the rest is filled in here.
  // Throws Error when the images cannot be given the wanted shape or the model has too few classes.
  PixelSource(SourceFacts facts, PixelTable table, Normalisation normalisation, Augmentation augmentation,
              const DataOptions& options);

 private:
  void read_image(int64_t index, const SampleContext& context, float* image, int32_t& label) const override;

  PixelTable table_;
  Augmentation augmentation_;
  std::vector<float> scale_, offset_;  // value = byte * scale + offset, per channel handed out
};

}  // namespace gpusizer
