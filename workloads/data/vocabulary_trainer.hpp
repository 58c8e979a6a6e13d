// SPDX-License-Identifier: Apache-2.0
// Makes a vocabulary of word pieces from a corpus.
#pragma once

#include <cstdint>
#include <string_view>

#include "workloads/data/vocabulary.hpp"

namespace gpusizer {

// Counts the words of the texts it is given, then builds pieces from them by byte-pair encoding (Sennrich, Haddow,
// Birch: "Neural Machine Translation of Rare Words with Subword Units", ACL 2016) with BERT's "##" for pieces inside
// of words: beginning with single characters, the pair of neighbouring pieces that is most frequent becomes a new
// piece, again and again. Pairs of equal frequency in the order of their bytes: the result depends on the words alone.
class VocabularyTrainer {
 public:
  void add(std::string_view text);

  // The five special tokens, the characters (the most frequent, at most half of the vocabulary), then the merged
  // pieces. At most `size` tokens; fewer when no pair is left that occurs twice. Throws Error: usage for a size outside
  // of fewest_tokens .. most_tokens, input when no word was added.
  Vocabulary train(int64_t size) const;

  static constexpr int64_t fewest_tokens = 32;

 private:
  StringMap<int64_t> words_;
};

}  // namespace gpusizer
