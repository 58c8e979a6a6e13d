// SPDX-License-Identifier: Apache-2.0
// The parts that all image sources share: their fields, and reading through them.
#include "workloads/data/image_source.hpp"

#include <array>

namespace gpusizer {

namespace {

std::vector<std::vector<Field>> image_fields(const ImageShape& s) {
  return {{{"images", ValueType::f32, {s.channels, s.height, s.width}}, {"labels", ValueType::i32, {}}}};
}

}  // namespace

ImageSource::ImageSource(SourceFacts facts) : SampleSource(facts, image_fields(facts.shape)) {}

void ImageSource::read(int64_t index, const SampleContext& context, float* image, int32_t& label) const {
  SampleSource::read(index, context, std::array<void*, 2>{image, &label});
}

void ImageSource::read_sample(int64_t index, const SampleContext& context, std::span<void* const> values) const {
  read_image(index, context, static_cast<float*>(values[0]), *static_cast<int32_t*>(values[1]));
}

}  // namespace gpusizer
