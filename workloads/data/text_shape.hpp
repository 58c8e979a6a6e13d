// SPDX-License-Identifier: Apache-2.0
// The lengths of text samples, their fields, and how the tokens of one are written into them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "workloads/data/data_options.hpp"
#include "workloads/data/sample_source.hpp"
#include "workloads/data/vocabulary.hpp"

namespace gpusizer {

inline constexpr int64_t fewest_sequence_tokens = 8, most_sequence_tokens = 65536;

struct TextShape {
  std::vector<int64_t> lengths;      // of the buckets, ascending; one when there are none
  std::vector<int64_t> predictions;  // masked positions of each
  bool has_buckets = false;

  int64_t sequence() const { return lengths.back(); }
  // The smallest that holds `tokens`; the largest when none does.
  int64_t bucket_for(int64_t tokens) const;
};

// Defaults filled in: 128 tokens, 15 % of them masked. The predictions asked for are those of the longest bucket,
// shorter ones get their share. Throws Error(usage) naming `source` for lengths that cannot be or contradict each
// other.
TextShape text_shape(const TextOptions& options, const std::string& source);

// What a source of such texts tells about itself; size and preparation are still missing.
SourceFacts text_facts(const std::string& name, const std::string& path, const TextShape& shape, int64_t vocabulary);

// For each bucket of length S with P predictions, all i32: "input_ids" [S], "token_types" [S] (0 up to the first [SEP],
// 1 in the second passage, 0 in padding), "lengths" [] (tokens without padding), "mlm_positions" [P] (unused: 0),
// "mlm_labels" [P] (unused: -1), "nsp_labels" [] (0: the second passage follows, 1: it is from elsewhere).
std::vector<std::vector<Field>> pretraining_fields(const TextShape& shape);

// "input_ids", "token_types", "lengths" as above and "labels" [].
std::vector<std::vector<Field>> classification_fields(const TextShape& shape);

// The values of one sample of either kind, in the order of the fields.
class TextSample {
 public:
  TextSample(std::span<void* const> values, int64_t length) : values_(values), length_(static_cast<size_t>(length)) {}

  // [CLS] first [SEP] second [SEP], then padding; without a second passage, without its [SEP] too. It must fit.
  // Returns the tokens without padding.
  std::span<int32_t> write(std::span<const int32_t> first, std::span<const int32_t> second,
                           const SpecialTokens& special) const;
  std::span<int32_t> positions(int64_t predictions) const { return field(3, static_cast<size_t>(predictions)); }
  std::span<int32_t> labels(int64_t predictions) const { return field(4, static_cast<size_t>(predictions)); }
  void set_follows(bool follows) const { field(5, 1)[0] = follows ? 0 : 1; }
  void set_class(int32_t label) const { field(3, 1)[0] = label; }

 private:
  std::span<int32_t> field(size_t index, size_t count) const { return {static_cast<int32_t*>(values_[index]), count}; }

  std::span<void* const> values_;
  size_t length_;
};

// The loss (nats per token) on tokens that occur `held_out` times of one who knows nothing but how often each occurred
// in training, one occurrence added to each: what a model must be below to have learned more than frequencies.
double unigram_entropy_nats(std::span<const int64_t> training, std::span<const int64_t> held_out);

}  // namespace gpusizer
