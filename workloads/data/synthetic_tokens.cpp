// SPDX-License-Identifier: Apache-2.0
// Makes a stretch of tokens once; a sample is a copy of two pieces of it.
#include "workloads/data/synthetic_tokens.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gpusizer/error.hpp"
#include "workloads/data/masking.hpp"
#include "workloads/data/sample_random.hpp"
#include "workloads/data/text_shape.hpp"

namespace gpusizer {

namespace {

constexpr SpecialTokens made_up_special{0, 1, 2, 3, 4};
constexpr int32_t first_word = 5;
constexpr int64_t default_tokens = 30522, fewest_words = 16, most_words = 1'000'000;
constexpr int64_t training_texts = 1'000'000, test_texts = 50'000;
constexpr int64_t stream_tokens = int64_t{1} << 20;
constexpr int64_t class_mark_distance = 4;  // every fourth token of a labelled text tells its class

// Tokens of a language in which a word often comes after its partner.
std::vector<int32_t> make_stream(int64_t words, SampleRandom random) {
  std::vector<double> sums;  // of the frequencies 1 / (rank + 10)
  double sum = 0;
  for (int64_t rank = 0; rank < words; ++rank) sums.push_back(sum += 1.0 / static_cast<double>(rank + 10));
  std::vector<int32_t> stream;
  int64_t rank = 0;
  for (int64_t i = 0; i < stream_tokens; ++i) {
    const int64_t partner = rank ^ 1;  // about as frequent, so that the frequencies stay what they are
    if (random.coin() && partner < words) {
      rank = partner;
    } else {
      const auto found = std::upper_bound(sums.begin(), sums.end(), random.uniform() * sum) - sums.begin();
      rank = std::min<int64_t>(found, words - 1);
    }
    stream.push_back(first_word + static_cast<int32_t>(rank));
  }
  return stream;
}

class SyntheticTokens final : public SampleSource {
 public:
  SyntheticTokens(SourceFacts source_facts, TextShape shape, bool labelled, uint64_t key)
      : SampleSource(std::move(source_facts), labelled ? classification_fields(shape) : pretraining_fields(shape)),
        shape_(std::move(shape)),
        labelled_(labelled),
        key_(key),
        stream_(make_stream(facts().vocabulary - first_word, SampleRandom(key))) {}

  std::vector<std::pair<std::string, double>> baselines(const SampleSource& train) const override {
    const auto* training = dynamic_cast<const SyntheticTokens*>(&train);
    if (labelled_ || training == nullptr || training->facts().vocabulary != facts().vocabulary) return {};
    return {{"unigram_entropy_nats", unigram_entropy_nats(training->token_counts(), token_counts())}};
  }

 private:
  // Of the passages together.
  int64_t words_of(int64_t index) const {
    const int64_t most = shape_.sequence() - 3;
    if (!shape_.has_buckets) return most;
    return 2 + SampleRandom(mix_key(key_, 1, static_cast<uint64_t>(index))).below(most - 1);
  }

  int64_t sample_bucket(int64_t index) const override { return shape_.bucket_for(words_of(index) + 3); }

  std::span<const int32_t> piece(SampleRandom& random, int64_t tokens) const {
    return std::span(stream_).subspan(static_cast<size_t>(random.below(stream_tokens - tokens)),
                                      static_cast<size_t>(tokens));
  }

  void read_sample(int64_t index, const SampleContext& context, std::span<void* const> values) const override {
    const auto bucket = static_cast<size_t>(bucket_of(index));
    const TextSample sample(values, shape_.lengths[bucket]);
    SampleRandom random(mix_key(key_, 2, static_cast<uint64_t>(index)));
    const int64_t words = words_of(index);
    if (labelled_) return write_labelled(index, piece(random, words), sample);
    const bool follows = random.coin();
    const std::span<const int32_t> text = piece(random, words);
    const auto first = text.first(text.size() / 2);
    const auto second = follows ? text.subspan(first.size()) : piece(random, words - words / 2);
    const std::span<int32_t> ids = sample.write(first, second, made_up_special);
    const int64_t predictions = shape_.predictions[bucket];
    mask_tokens(ids, {facts().vocabulary, made_up_special},
                SampleRandom(context.seed, context.augment ? context.epoch : 0, index), sample.positions(predictions),
                sample.labels(predictions));
    sample.set_follows(follows);
  }

  void write_labelled(int64_t index, std::span<const int32_t> text, const TextSample& sample) const {
    const auto label = static_cast<int32_t>(index % facts().classes);
    const std::span<int32_t> ids = sample.write(text, {}, made_up_special);
    for (size_t place = 1; place + 1 < ids.size(); place += class_mark_distance) ids[place] = first_word + label;
    sample.set_class(label);
  }

  std::vector<int64_t> token_counts() const {
    std::vector<int64_t> counts(static_cast<size_t>(facts().vocabulary));
    for (const int32_t id : stream_) ++counts[static_cast<size_t>(id)];
    return counts;
  }

  TextShape shape_;
  bool labelled_;
  uint64_t key_;
  std::vector<int32_t> stream_;
};

void check_made_up(const SourceFacts& facts) {
  const int64_t fewest = first_word + std::max(fewest_words, facts.classes);
  if (facts.vocabulary < fewest || facts.vocabulary > most_words) {
    throw Error(Fault::usage, fmt::format("text of {} tokens cannot be made up", facts.vocabulary), "synthetic",
                fmt::format("ask for a vocabulary of {} to {}", fewest, most_words));
  }
  if (facts.size < 1 || facts.size > INT32_MAX) {
    throw Error(Fault::usage, fmt::format("{} samples of text cannot be made up", facts.size), "synthetic");
  }
}

}  // namespace

std::unique_ptr<SampleSource> open_synthetic_tokens(const DataOptions& options) {
  const auto given = [](int64_t value, int64_t otherwise) { return value == 0 ? otherwise : value; };
  TextShape shape = text_shape(options.text, "synthetic");
  const bool labelled = options.text.head == "classification", training = options.split == Split::train;
  SourceFacts facts = text_facts("synthetic", "", shape, given(options.text.vocabulary, default_tokens));
  facts.size = given(options.synthetic_samples, training ? training_texts : test_texts);
  facts.classes = labelled ? given(options.classes, 2) : 0;
  if (labelled) facts.predictions = 0;
  facts.preparation = labelled ? "made up: words of falling frequency, every fourth one a mark of the class"
                               : "made up: words of falling frequency, half of them after their partner; 15 % of the "
                                 "tokens masked, anew in each epoch of training";
  check_made_up(facts);
  return std::make_unique<SyntheticTokens>(std::move(facts), std::move(shape), labelled,
                                           mix_key(options.seed, training ? 1 : 2));
}

}  // namespace gpusizer
