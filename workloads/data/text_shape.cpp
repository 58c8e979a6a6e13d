// SPDX-License-Identifier: Apache-2.0
// Checks lengths, lists fields, writes tokens.
#include "workloads/data/text_shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "gpusizer/error.hpp"
#include "workloads/data/masking.hpp"

namespace gpusizer {

namespace {

constexpr int64_t default_sequence = 128;

void check_length(int64_t length, const std::string& source) {
  if (length >= fewest_sequence_tokens && length <= most_sequence_tokens) return;
  throw Error(Fault::usage, fmt::format("sequences of {} tokens cannot be made", length), source,
              fmt::format("ask for {} to {} tokens", fewest_sequence_tokens, most_sequence_tokens));
}

void check_lengths(const TextOptions& options, const std::vector<int64_t>& lengths, const std::string& source) {
  for (const int64_t length : lengths) check_length(length, source);
  if (std::adjacent_find(lengths.begin(), lengths.end(), std::greater_equal<>()) != lengths.end()) {
    throw Error(Fault::usage, "the lengths of the buckets do not ascend", source, "give each once, the shortest first");
  }
  if (options.sequence != 0 && options.sequence != lengths.back()) {
    throw Error(Fault::usage,
                fmt::format("the longest bucket has {} tokens and the sequence {}", lengths.back(), options.sequence),
                source, "leave out the sequence length, or end the buckets with it");
  }
}

}  // namespace

int64_t TextShape::bucket_for(int64_t tokens) const {
  const auto found = std::lower_bound(lengths.begin(), lengths.end(), tokens);
  return std::min<int64_t>(found - lengths.begin(), static_cast<int64_t>(lengths.size()) - 1);
}

TextShape text_shape(const TextOptions& options, const std::string& source) {
  TextShape shape{.lengths = options.buckets, .predictions = {}, .has_buckets = !options.buckets.empty()};
  if (!shape.has_buckets) shape.lengths = {options.sequence == 0 ? default_sequence : options.sequence};
  check_lengths(options, shape.lengths, source);
  const int64_t longest = shape.sequence();
  const int64_t wanted = options.predictions == 0 ? default_predictions(longest) : options.predictions;
  if (wanted < 1 || wanted > longest - 3) {
    throw Error(Fault::usage, fmt::format("{} of {} tokens cannot be masked", wanted, longest), source,
                fmt::format("ask for 1 to {}", longest - 3));
  }
  for (const int64_t length : shape.lengths) {
    const int64_t share = (wanted * length + longest - 1) / longest;
    shape.predictions.push_back(options.predictions == 0 ? default_predictions(length) : share);
  }
  return shape;
}

SourceFacts text_facts(const std::string& name, const std::string& path, const TextShape& shape, int64_t vocabulary) {
  SourceFacts facts{.name = name, .location = path};
  facts.vocabulary = vocabulary;
  facts.sequence = shape.sequence();
  facts.predictions = shape.predictions.back();
  if (shape.has_buckets) facts.bucket_lengths = shape.lengths;
  return facts;
}

std::vector<std::vector<Field>> pretraining_fields(const TextShape& shape) {
  std::vector<std::vector<Field>> buckets;
  for (size_t i = 0; i < shape.lengths.size(); ++i) {
    const int64_t length = shape.lengths[i], predictions = shape.predictions[i];
    buckets.push_back({{"input_ids", ValueType::i32, {length}},
                       {"token_types", ValueType::i32, {length}},
                       {"lengths", ValueType::i32, {}},
                       {"mlm_positions", ValueType::i32, {predictions}},
                       {"mlm_labels", ValueType::i32, {predictions}},
                       {"nsp_labels", ValueType::i32, {}}});
  }
  return buckets;
}

std::vector<std::vector<Field>> classification_fields(const TextShape& shape) {
  std::vector<std::vector<Field>> buckets;
  for (const int64_t length : shape.lengths) {
    buckets.push_back({{"input_ids", ValueType::i32, {length}},
                       {"token_types", ValueType::i32, {length}},
                       {"lengths", ValueType::i32, {}},
                       {"labels", ValueType::i32, {}}});
  }
  return buckets;
}

std::span<int32_t> TextSample::write(std::span<const int32_t> first, std::span<const int32_t> second,
                                     const SpecialTokens& special) const {
  const std::span<int32_t> ids = field(0, length_), types = field(1, length_);
  auto id = ids.begin();
  *id++ = special.classify;
  id = std::copy(first.begin(), first.end(), id);
  *id++ = special.separate;
  const auto second_begin = id - ids.begin();
  if (!second.empty()) {
    id = std::copy(second.begin(), second.end(), id);
    *id++ = special.separate;
  }
  const auto end = id - ids.begin();
  std::fill(id, ids.end(), special.padding);
  std::fill(types.begin(), types.end(), 0);
  std::fill(types.begin() + second_begin, types.begin() + end, 1);
  field(2, 1)[0] = static_cast<int32_t>(end);
  return ids.first(static_cast<size_t>(end));
}

double unigram_entropy_nats(std::span<const int64_t> training, std::span<const int64_t> held_out) {
  const auto sum = [](std::span<const int64_t> counts) {
    return static_cast<double>(std::accumulate(counts.begin(), counts.end(), int64_t{0}));
  };
  const double training_tokens = sum(training) + static_cast<double>(training.size());
  double loss = 0;
  for (size_t id = 0; id < held_out.size(); ++id) {
    if (held_out[id] == 0) continue;
    const double share = (static_cast<double>(training[id]) + 1) / training_tokens;
    loss -= static_cast<double>(held_out[id]) * std::log(share);
  }
  return loss / sum(held_out);
}

}  // namespace gpusizer
