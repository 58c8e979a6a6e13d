// SPDX-License-Identifier: Apache-2.0
// Makes the pool of synthetic images.
#include "workloads/data/synthetic_images.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gpusizer/error.hpp"
#include "workloads/data/sample_random.hpp"

namespace gpusizer {

namespace {

constexpr int64_t pool_bytes = int64_t{32} << 20;
constexpr int64_t most_pool_images = 1024, fewest_pool_images = 2;
constexpr int64_t most_values = int64_t{1} << 27;  // of one image: 512 MiB
constexpr int64_t imagenet_training_images = 1281167, imagenet_validation_images = 50000;
constexpr int64_t pattern_cells = 4;  // a pattern is this many squares high and wide

SourceFacts describe(const DataOptions& options) {
  const auto given = [](int64_t value, int64_t otherwise) { return value == 0 ? otherwise : value; };
  const ImageShape& wanted = options.wanted;
  SourceFacts facts{.name = "synthetic"};
  facts.shape = {given(wanted.channels, 3), given(wanted.height, 224), given(wanted.width, 224)};
  facts.classes = given(options.classes, 1000);
  facts.size = given(options.synthetic_samples,
                     options.split == Split::train ? imagenet_training_images : imagenet_validation_images);
  facts.preparation = "made up: a coarse pattern for each class, in noise";
  return facts;
}

void check(const SourceFacts& facts) {
  const auto [channels, height, width] = facts.shape;
  const bool sane = channels >= 1 && height >= 1 && width >= 1 && channels <= most_values &&
                    height <= most_values / channels && width <= most_values / channels / height;
  if (!sane)
    throw Error(Fault::usage, fmt::format("synthetic images of {} cannot be made", facts.shape.text()), "synthetic");
  if (facts.classes < 1 || facts.classes > INT32_MAX || facts.size < 1) {
    throw Error(Fault::usage,
                fmt::format("{} synthetic samples of {} classes cannot be made", facts.size, facts.classes),
                "synthetic", "ask for at least 1 of each");
  }
}

class SyntheticImages final : public ImageSource {
 public:
  SyntheticImages(const SourceFacts& facts, const DataOptions& options)
      : ImageSource(facts),
        pool_images_(
            std::min(size(), std::clamp<int64_t>(pool_bytes / (shape().values() * static_cast<int64_t>(sizeof(float))),
                                                 fewest_pool_images, most_pool_images))),
        pool_(static_cast<size_t>(pool_images_ * shape().values())) {
    const uint64_t split = options.split == Split::train ? 1 : 2;
    for (int64_t image = 0; image < pool_images_; ++image) {
      const auto key = mix_key(options.seed, split, static_cast<uint64_t>(image));
      // The first images go through the classes in turn, so that a small pool has as many of them as it can.
      labels_.push_back(static_cast<int32_t>(image % classes()));
      draw(options.seed, labels_.back(), SampleRandom(key), pool_.data() + image * shape().values());
    }
  }

 private:
  // Values have mean 0 and deviation about 1, like normalised photographs.
  void draw(uint64_t seed, int32_t label, SampleRandom noise, float* values) const {
    const uint64_t pattern = mix_key(seed, 0, static_cast<uint64_t>(label));
    for (int64_t channel = 0; channel < channels(); ++channel) {
      for (int64_t y = 0; y < height(); ++y) {
        for (int64_t x = 0; x < width(); ++x) {
          const int64_t cell =
              (channel * pattern_cells + y * pattern_cells / height()) * pattern_cells + x * pattern_cells / width();
          const float side = (mix_key(pattern, static_cast<uint64_t>(cell)) >> 63) != 0 ? 0.7f : -0.7f;
          *values++ = side + static_cast<float>(noise.uniform(-1.2, 1.2));
        }
      }
    }
  }

  void read_image(int64_t index, const SampleContext&, float* image, int32_t& label) const override {
    const int64_t chosen = index % pool_images_;
    std::copy_n(pool_.data() + chosen * shape().values(), shape().values(), image);
    label = labels_[static_cast<size_t>(chosen)];
  }

  int64_t pool_images_;
  std::vector<float> pool_;
  std::vector<int32_t> labels_;
};

}  // namespace

std::unique_ptr<ImageSource> open_synthetic_images(const DataOptions& options) {
  const SourceFacts facts = describe(options);
  check(facts);
  return std::make_unique<SyntheticImages>(facts, options);
}

}  // namespace gpusizer
