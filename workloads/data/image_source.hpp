// SPDX-License-Identifier: Apache-2.0
// The contract of every source of labelled images: how many there are, their shape, and how to read one of them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace gpusizer {

// Pixels of one image: channels x height x width, in this order in memory (CHW).
struct ImageShape {
  int64_t channels = 0, height = 0, width = 0;

  int64_t values() const { return channels * height * width; }
  std::string text() const;  // "3x224x224"
  bool operator==(const ImageShape&) const = default;
};

// All that a sample may depend on besides its index. A random crop or flip is a pure function of (seed, epoch, index),
// so that the threads that read the samples, and their order, cannot change a run.
struct SampleContext {
  uint64_t seed = 0;
  int64_t epoch = 0;
  bool augment = false;  // random crops and flips (training) or the plain, centred image (evaluation)
};

// What a source tells about itself.
struct SourceFacts {
  std::string name;                      // "fashion-mnist"
  std::string location;                  // the folder it was read from; empty when nothing was read
  int64_t size = 0;                      // samples, at least 1
  ImageShape shape;                      // of every image handed out
  int64_t classes = 0;                   // labels are 0 .. classes - 1
  std::vector<std::string> class_names;  // empty, or one per class
  std::string preparation;               // padding, augmentation and normalisation, in words for a report
};

// A source is opened once and then read by many threads at a time; reading changes nothing.
class ImageSource {
 public:
  virtual ~ImageSource() = default;
  ImageSource(const ImageSource&) = delete;
  ImageSource& operator=(const ImageSource&) = delete;

  const SourceFacts& facts() const { return facts_; }
  const std::string& name() const { return facts_.name; }
  int64_t size() const { return facts_.size; }
  const ImageShape& shape() const { return facts_.shape; }
  int64_t channels() const { return facts_.shape.channels; }
  int64_t height() const { return facts_.shape.height; }
  int64_t width() const { return facts_.shape.width; }
  int64_t classes() const { return facts_.classes; }
  const std::vector<std::string>& class_names() const { return facts_.class_names; }

  // Writes sample `index` (0 .. size() - 1) to `image`, which holds shape().values() floats (CHW, normalised), and its
  // class to `label`. Throws Error naming the file when the sample cannot be read.
  void read(int64_t index, const SampleContext& context, float* image, int32_t& label) const;

 protected:
  explicit ImageSource(SourceFacts facts) : facts_(std::move(facts)) {}

 private:
  virtual void read_sample(int64_t index, const SampleContext& context, float* image, int32_t& label) const = 0;

  SourceFacts facts_;
};

}  // namespace gpusizer
