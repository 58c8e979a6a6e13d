// SPDX-License-Identifier: Apache-2.0
// A source of labelled images: the fields "images" f32 [channels, height, width] and "labels" i32.
#pragma once

#include "workloads/data/sample_source.hpp"

namespace gpusizer {

class ImageSource : public SampleSource {
 public:
  const ImageShape& shape() const { return facts().shape; }
  int64_t channels() const { return facts().shape.channels; }
  int64_t height() const { return facts().shape.height; }
  int64_t width() const { return facts().shape.width; }
  int64_t classes() const { return facts().classes; }
  const std::vector<std::string>& class_names() const { return facts().class_names; }

  using SampleSource::read;
  // Writes sample `index` to `image`, which holds shape().values() floats (CHW, normalised), and its class to `label`.
  void read(int64_t index, const SampleContext& context, float* image, int32_t& label) const;

 protected:
  explicit ImageSource(SourceFacts facts);

 private:
  virtual void read_image(int64_t index, const SampleContext& context, float* image, int32_t& label) const = 0;
  void read_sample(int64_t index, const SampleContext& context, std::span<void* const> values) const final;
};

}  // namespace gpusizer
