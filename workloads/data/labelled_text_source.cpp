// SPDX-License-Identifier: Apache-2.0
// Tokenizes all rows of a split when it is opened; a sample is then a copy.
#include "workloads/data/labelled_text_source.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gpusizer/error.hpp"
#include "workloads/data/labelled_rows.hpp"
#include "workloads/data/text_shape.hpp"
#include "workloads/data/text_split.hpp"
#include "workloads/data/vocabulary_trainer.hpp"
#include "workloads/data/wordpiece.hpp"

namespace gpusizer {

namespace {

constexpr int64_t default_pieces = 8192;

struct LabelledTokens {
  std::vector<int32_t> first, second;
  int32_t label = 0;

  int64_t sequence_tokens() const {
    return static_cast<int64_t>(first.size() + second.size()) + (second.empty() ? 2 : 3);
  }
};

class LabelledTextSource final : public SampleSource {
 public:
  LabelledTextSource(SourceFacts facts, TextShape shape, SpecialTokens special, std::vector<LabelledTokens> rows)
      : SampleSource(std::move(facts), classification_fields(shape)),
        shape_(std::move(shape)),
        special_(special),
        rows_(std::move(rows)) {}

 private:
  int64_t sample_bucket(int64_t index) const override {
    return shape_.bucket_for(rows_[static_cast<size_t>(index)].sequence_tokens());
  }

  void read_sample(int64_t index, const SampleContext&, std::span<void* const> values) const override {
    const LabelledTokens& row = rows_[static_cast<size_t>(index)];
    const TextSample sample(values, shape_.lengths[static_cast<size_t>(bucket_of(index))]);
    sample.write(row.first, row.second, special_);
    sample.set_class(row.label);
  }

  TextShape shape_;
  SpecialTokens special_;
  std::vector<LabelledTokens> rows_;
};

struct LabelledSplits {
  std::vector<LabelledRow> train, test;
  std::string train_file, test_file;
};

LabelledSplits split_rows(const std::filesystem::path& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    const fs::path dev = path / "dev.tsv", test = fs::exists(dev, ignored) ? dev : path / "test.tsv";
    const fs::path train = path / "train.tsv";
    return {read_labelled_rows(train), read_labelled_rows(test), train.string(), test.string()};
  }
  std::vector<LabelledRow> rows = read_labelled_rows(path);
  const auto count = static_cast<int64_t>(rows.size());
  if (count < 2) throw Error(Fault::input, "the table has one row, so that none can be held out", path.string());
  LabelledSplits splits{.train = {}, .test = {}, .train_file = path.string(), .test_file = path.string()};
  for (int64_t row = 0; row < count; ++row) {
    auto& rows_of_split = split_of(row, count) == Split::train ? splits.train : splits.test;
    rows_of_split.push_back(std::move(rows[static_cast<size_t>(row)]));
  }
  return splits;
}

Vocabulary vocabulary_for(const std::vector<LabelledRow>& rows, const TextOptions& options) {
  if (!options.vocabulary_file.empty()) return read_vocabulary(options.vocabulary_file, options.vocabulary);
  VocabularyTrainer trainer;
  for (const LabelledRow& row : rows) {
    trainer.add(row.first);
    trainer.add(row.second);
  }
  return trainer.train(options.vocabulary == 0 ? default_pieces : options.vocabulary);
}

// The longer passage loses its last token until both fit.
void cut_to(LabelledTokens& row, int64_t sequence) {
  while (row.sequence_tokens() > sequence) {
    (row.first.size() >= row.second.size() ? row.first : row.second).pop_back();
  }
}

std::vector<LabelledTokens> tokenize_rows(const std::vector<LabelledRow>& rows, const std::vector<std::string>& labels,
                                          const WordPiece& word_piece, int64_t sequence, const std::string& file) {
  std::vector<LabelledTokens> tokens;
  for (const LabelledRow& row : rows) {
    const std::string place = fmt::format("{}, line {}", file, row.line);
    const auto label = std::find(labels.begin(), labels.end(), row.label);
    if (label == labels.end()) {
      throw Error(Fault::input, fmt::format("no training row has the label `{}`", row.label), place);
    }
    LabelledTokens& sample = tokens.emplace_back();
    sample.label = static_cast<int32_t>(label - labels.begin());
    word_piece.encode(row.first, sample.first);
    word_piece.encode(row.second, sample.second);
    if (sample.first.empty()) throw Error(Fault::input, "the row has no text", place);
    cut_to(sample, sequence);
  }
  return tokens;
}

}  // namespace

std::unique_ptr<SampleSource> open_labelled_text(const std::string& path, const DataOptions& options) {
  if (options.text.head == "pretraining") {
    throw Error(Fault::usage, "the model guesses masked words, and a table of labelled texts has classes", path,
                "use the classification head, or text:PATH");
  }
  TextShape shape = text_shape(options.text, path);
  const LabelledSplits splits = split_rows(path);
  const std::vector<std::string> labels = distinct_labels(splits.train);
  const Vocabulary vocabulary = vocabulary_for(splits.train, options.text);
  const bool training = options.split == Split::train;
  std::vector<LabelledTokens> rows = tokenize_rows(training ? splits.train : splits.test, labels, WordPiece(vocabulary),
                                                   shape.sequence(), training ? splits.train_file : splits.test_file);
  SourceFacts facts = text_facts("tsv", path, shape, vocabulary.size());
  facts.predictions = 0;
  facts.size = static_cast<int64_t>(rows.size());
  facts.classes = static_cast<int64_t>(labels.size());
  facts.class_names = labels;
  facts.preparation =
      fmt::format("lower case without accents, {} word pieces; cut to {} tokens", vocabulary.size(), shape.sequence());
  check_classes(facts.classes, options.classes, path);
  return std::make_unique<LabelledTextSource>(std::move(facts), std::move(shape), vocabulary.special(),
                                              std::move(rows));
}

bool looks_like_labelled_text(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path, ignored)) return path.extension() == ".tsv";
  return std::filesystem::exists(path / "train.tsv", ignored);
}

}  // namespace gpusizer
