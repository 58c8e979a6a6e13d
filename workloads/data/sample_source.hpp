// SPDX-License-Identifier: Apache-2.0
// The contract of every source of samples: how many there are, which fields one has, and how to read one of them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace gpusizer {

enum class ValueType : uint8_t { f32, i32 };  // both take four bytes

// One input of the program, as far as one sample is concerned: "images" f32 [3, 224, 224], "labels" i32 [].
struct Field {
  std::string name;
  ValueType type = ValueType::f32;
  std::vector<int64_t> shape;  // row-major; {} is one value

  int64_t values() const {
    int64_t product = 1;
    for (const int64_t extent : shape) product *= extent;
    return product;
  }
  bool operator==(const Field&) const = default;
};

// All that a sample may depend on besides its index. A random crop, flip or mask is a pure function of (seed, epoch,
// index), so that the threads that read the samples, and their order, cannot change a run.
struct SampleContext {
  uint64_t seed = 0;
  int64_t epoch = 0;
  bool augment = false;  // random crops and flips (training) or the plain, centred image (evaluation)
};

// Pixels of one image: channels x height x width, in this order in memory (CHW).
struct ImageShape {
  int64_t channels = 0, height = 0, width = 0;

  int64_t values() const { return channels * height * width; }
  std::string text() const;  // "3x224x224"
  bool operator==(const ImageShape&) const = default;
};

// What a source tells about itself. Sizes that a kind of data does not have are 0.
struct SourceFacts {
  std::string name;         // "fashion-mnist"
  std::string location;     // the folder or file it was read from; empty when nothing was read
  int64_t size = 0;         // samples, at least 1
  std::string preparation;  // padding, augmentation, normalisation, tokenising, scaling: in words for a report
  // Images:
  ImageShape shape;                      // of every image handed out
  int64_t classes = 0;                   // labels are 0 .. classes - 1
  std::vector<std::string> class_names;  // empty, or one per class
  // Text:
  int64_t vocabulary = 0;               // token ids are 0 .. vocabulary - 1
  int64_t sequence = 0;                 // tokens of the longest bucket, padding included
  int64_t predictions = 0;              // masked positions of the longest bucket
  std::vector<int64_t> bucket_lengths;  // ascending, the last is `sequence`; empty: one length for all
  // Series:
  int64_t features = 0, window = 0, horizon = 0;  // per time step; time steps in; time steps out
};

// A source is opened once and then read by many threads at a time; reading changes nothing.
//
// Samples may come in buckets (texts of about equal length): all samples of a batch are of one bucket, and each bucket
// has its own program. The fields have the same names in every bucket; only their shapes differ.
class SampleSource {
 public:
  virtual ~SampleSource() = default;
  SampleSource(const SampleSource&) = delete;
  SampleSource& operator=(const SampleSource&) = delete;

  const SourceFacts& facts() const { return facts_; }
  const std::string& name() const { return facts_.name; }
  int64_t size() const { return facts_.size; }

  int64_t buckets() const { return static_cast<int64_t>(fields_.size()); }
  // What one sample of a bucket consists of.
  const std::vector<Field>& fields(int64_t bucket = 0) const { return fields_.at(static_cast<size_t>(bucket)); }
  int64_t bucket_of(int64_t index) const { return buckets() == 1 ? 0 : sample_bucket(index); }

  // Writes sample `index` (0 .. size() - 1): values[i] holds as many values as field i of the sample's bucket.
  // Throws Error naming the file when the sample cannot be read.
  void read(int64_t index, const SampleContext& context, std::span<void* const> values) const;

  // What guesses without a model reach on this held-out source, after a look at `train`, by name: the loss of word
  // frequencies ("unigram_entropy_nats"), the errors of "no change" and "as a season ago". A run that is not clearly
  // better has learned nothing. Empty when the source knows none; takes at most seconds.
  virtual std::vector<std::pair<std::string, double>> baselines(const SampleSource& /*train*/) const { return {}; }

 protected:
  // `fields`: one list for each bucket.
  SampleSource(SourceFacts facts, std::vector<std::vector<Field>> fields)
      : facts_(std::move(facts)), fields_(std::move(fields)) {}

 private:
  virtual void read_sample(int64_t index, const SampleContext& context, std::span<void* const> values) const = 0;
  virtual int64_t sample_bucket(int64_t) const { return 0; }

  SourceFacts facts_;
  std::vector<std::vector<Field>> fields_;
};

}  // namespace gpusizer
