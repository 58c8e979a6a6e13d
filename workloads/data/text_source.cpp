// SPDX-License-Identifier: Apache-2.0
// Reads, splits and tokenizes a corpus once; a sample is then a copy of two pieces of it.
#include "workloads/data/text_source.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gpusizer/error.hpp"
#include "workloads/data/masking.hpp"
#include "workloads/data/text_corpus.hpp"
#include "workloads/data/text_pairs.hpp"
#include "workloads/data/text_shape.hpp"
#include "workloads/data/text_split.hpp"
#include "workloads/data/vocabulary_trainer.hpp"
#include "workloads/data/wordpiece.hpp"

namespace gpusizer {

namespace {

constexpr int64_t default_vocabulary = 8192;

class TextSource final : public SampleSource {
 public:
  TextSource(SourceFacts facts, TextShape shape, Vocabulary vocabulary, std::vector<int32_t> ids,
             std::vector<TextPair> pairs)
      : SampleSource(std::move(facts), pretraining_fields(shape)),
        shape_(std::move(shape)),
        vocabulary_(std::move(vocabulary)),
        ids_(std::move(ids)),
        pairs_(std::move(pairs)) {}

  std::vector<std::pair<std::string, double>> baselines(const SampleSource& train) const override {
    const auto* training = dynamic_cast<const TextSource*>(&train);
    if (training == nullptr || !(training->vocabulary_ == vocabulary_)) return {};
    return {{"unigram_entropy_nats", unigram_entropy_nats(training->token_counts(), token_counts())}};
  }

 private:
  int64_t sample_bucket(int64_t index) const override {
    return shape_.bucket_for(pairs_[static_cast<size_t>(index)].sequence_tokens());
  }

  void read_sample(int64_t index, const SampleContext& context, std::span<void* const> values) const override {
    const TextPair& pair = pairs_[static_cast<size_t>(index)];
    const auto bucket = static_cast<size_t>(bucket_of(index));
    const int64_t predictions = shape_.predictions[bucket];
    const TextSample sample(values, shape_.lengths[bucket]);
    const std::span<int32_t> ids = sample.write(first(pair), second(pair), vocabulary_.special());
    mask_tokens(ids, {vocabulary_.size(), vocabulary_.special()},
                SampleRandom(context.seed, context.augment ? context.epoch : 0, index), sample.positions(predictions),
                sample.labels(predictions));
    sample.set_follows(pair.follows);
  }

  std::span<const int32_t> first(const TextPair& pair) const {
    return std::span(ids_).subspan(static_cast<size_t>(pair.first_begin), static_cast<size_t>(pair.first_tokens));
  }
  std::span<const int32_t> second(const TextPair& pair) const {
    return std::span(ids_).subspan(static_cast<size_t>(pair.second_begin), static_cast<size_t>(pair.second_tokens));
  }

  // How often each token is in a sample; each occurrence has the same chance of being masked.
  std::vector<int64_t> token_counts() const {
    std::vector<int64_t> counts(static_cast<size_t>(vocabulary_.size()));
    for (const TextPair& pair : pairs_) {
      for (const int32_t id : first(pair)) ++counts[static_cast<size_t>(id)];
      for (const int32_t id : second(pair)) ++counts[static_cast<size_t>(id)];
    }
    return counts;
  }

  TextShape shape_;
  Vocabulary vocabulary_;
  std::vector<int32_t> ids_;
  std::vector<TextPair> pairs_;
};

// The documents of one split, tokenized.
TokenLines tokenize(const TextCorpus& corpus, Split split, const Vocabulary& vocabulary, int64_t most_line_tokens) {
  const WordPiece word_piece(vocabulary);
  TokenLines lines;
  std::vector<int32_t> tokens;
  for (int64_t document = 0; document < corpus.documents(); ++document) {
    if (split_of(document, corpus.documents()) != split) continue;
    for (int64_t line = corpus.first_line(document); line < corpus.first_line(document + 1); ++line) {
      tokens.clear();
      word_piece.encode(corpus.line(line), tokens);
      lines.add_line(tokens, most_line_tokens);
    }
    lines.end_document();
  }
  return lines;
}

Vocabulary make_vocabulary(const TextCorpus& corpus, int64_t size) {
  VocabularyTrainer trainer;
  for (int64_t document = 0; document < corpus.documents(); ++document) {
    if (split_of(document, corpus.documents()) != Split::train) continue;
    for (int64_t line = corpus.first_line(document); line < corpus.first_line(document + 1); ++line) {
      trainer.add(corpus.line(line));
    }
  }
  return trainer.train(size);
}

// The share of tokens that the vocabulary does not know.
double check_unknown(const TokenLines& lines, const Vocabulary& vocabulary, const std::string& path) {
  const auto unknown = std::count(lines.ids.begin(), lines.ids.end(), vocabulary.special().unknown);
  const double share = static_cast<double>(unknown) / std::max<double>(1, static_cast<double>(lines.ids.size()));
  if (share > 0.5) {
    throw Error(Fault::input, fmt::format("{:.0f} % of the text's tokens are not in the vocabulary", 100 * share), path,
                "give a vocabulary of the text's language, or none to make one");
  }
  return share;
}

std::string preparation(const TextOptions& options, const Vocabulary& vocabulary, double unknown_share) {
  const std::string pieces = options.vocabulary_file.empty()
                                 ? fmt::format("{} word pieces made from the training part", vocabulary.size())
                                 : fmt::format("{} word pieces of {}", vocabulary.size(), options.vocabulary_file);
  return fmt::format(
      "lower case without accents, {} ({:.2f} % of the tokens unknown); 1 of {} documents is held out; pairs of "
      "passages, half of them not consecutive, {}; 15 % of the tokens masked, anew in each epoch of training",
      pieces, 100 * unknown_share, documents_for_one_held_out,
      options.buckets.empty() ? "filled up to the sequence length" : "a line and the next one, padded to their bucket");
}

}  // namespace

std::unique_ptr<SampleSource> open_text(const std::string& path, const DataOptions& options) {
  if (options.text.head == "classification") {
    throw Error(Fault::usage, "the model tells classes apart, and plain text has none", path,
                "use tsv:PATH with a table of labelled texts, or the pretraining head");
  }
  TextShape shape = text_shape(options.text, path);
  const TextCorpus corpus = read_text_corpus(path);
  check_can_split(corpus.documents(), path);
  Vocabulary vocabulary =
      options.text.vocabulary_file.empty()
          ? make_vocabulary(corpus, options.text.vocabulary == 0 ? default_vocabulary : options.text.vocabulary)
          : read_vocabulary(options.text.vocabulary_file, options.text.vocabulary);
  TokenLines lines = tokenize(corpus, options.split, vocabulary, (shape.sequence() - 3) / 2);
  const double unknown_share = check_unknown(lines, vocabulary, path);
  std::vector<TextPair> pairs =
      arrange_pairs(lines, shape.sequence(), shape.has_buckets ? PairLength::natural : PairLength::full);
  if (pairs.empty()) {
    throw Error(Fault::input,
                fmt::format("the {} part of the text is too short for a single sample",
                            options.split == Split::train ? "training" : "held-out"),
                path, fmt::format("1 of {} documents is held out; give a longer text", documents_for_one_held_out));
  }
  SourceFacts facts = text_facts("text", path, shape, vocabulary.size());
  facts.size = static_cast<int64_t>(pairs.size());
  facts.preparation = preparation(options.text, vocabulary, unknown_share);
  return std::make_unique<TextSource>(std::move(facts), std::move(shape), std::move(vocabulary), std::move(lines.ids),
                                      std::move(pairs));
}

bool looks_like_text(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path, ignored)) return path.extension() == ".txt";
  for (std::filesystem::directory_iterator entry(path, ignored), end; !ignored && entry != end;
       entry.increment(ignored)) {
    if (entry->path().extension() == ".txt") return true;
  }
  return false;
}

}  // namespace gpusizer
