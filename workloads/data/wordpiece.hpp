// SPDX-License-Identifier: Apache-2.0
// The tokenizer of uncased BERT: text into words, words into the longest pieces that the vocabulary has.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/data/vocabulary.hpp"

namespace gpusizer {

// The words of a text in lower case without accents, a space between each two. Punctuation marks and Chinese characters
// are words of their own; control characters are dropped. See letters.hpp for what is known of which script.
// "Héllo, you" -> "hello , you". Bytes that are not UTF-8 are dropped.
std::string split_words(std::string_view text);

// Calls use(std::string_view word) for each word of what split_words() gave.
template <typename Use>
void for_each_word(std::string_view words, Use&& use) {
  while (!words.empty()) {
    const size_t end = words.find(' ');
    use(words.substr(0, end));
    words = end == std::string_view::npos ? std::string_view() : words.substr(end + 1);
  }
}

inline constexpr int64_t most_word_characters = 100;  // a longer word is unknown

// Reading is const and may be done by many threads.
class WordPiece {
 public:
  explicit WordPiece(const Vocabulary& vocabulary);

  // Appends the ids of `text` to `ids`: each word's longest piece from its begin, then the longest from there, where a
  // piece that does not begin a word is written "##piece". A word with a part in no piece becomes [UNK] as a whole.
  void encode(std::string_view text, std::vector<int32_t>& ids) const;
  std::vector<int32_t> encode(std::string_view text) const;

 private:
  void encode_word(std::string_view word, std::vector<int32_t>& ids) const;

  StringMap<int32_t> beginnings_, continuations_;  // the latter without their "##"
  size_t longest_piece_ = 0;                       // bytes
  int32_t unknown_;
};

}  // namespace gpusizer
