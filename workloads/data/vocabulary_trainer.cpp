// SPDX-License-Identifier: Apache-2.0
// Counts words, chooses the alphabet, and merges pieces until there are enough.
#include "workloads/data/vocabulary_trainer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gpusizer/error.hpp"
#include "workloads/data/piece_merger.hpp"
#include "workloads/data/utf8.hpp"
#include "workloads/data/wordpiece.hpp"

namespace gpusizer {

namespace {

using CountedWord = std::pair<std::string_view, int64_t>;

// "ab" -> "a", "##b"
std::vector<std::string> characters_of(std::string_view word) {
  std::vector<std::string> characters;
  for (size_t at = 0; at < word.size();) {
    const size_t begin = at;
    next_character(word, at);
    std::string& character = characters.emplace_back(begin == 0 ? "" : "##");
    character += word.substr(begin, at - begin);
  }
  return characters;
}

// The most frequent characters, at most `most`, in the order of their bytes.
std::vector<std::string> choose_alphabet(const std::vector<CountedWord>& words, size_t most) {
  StringMap<int64_t> counts;
  for (const auto& [word, count] : words) {
    for (const std::string& character : characters_of(word)) counts[character] += count;
  }
  std::vector<std::pair<int64_t, std::string>> ordered;
  for (const auto& [character, count] : counts) ordered.emplace_back(-count, character);
  std::sort(ordered.begin(), ordered.end());
  ordered.resize(std::min(ordered.size(), most));
  std::vector<std::string> alphabet;
  for (auto& [count, character] : ordered) alphabet.push_back(std::move(character));
  std::sort(alphabet.begin(), alphabet.end());
  return alphabet;
}

// The words of characters in the alphabet; others will be [UNK].
std::vector<SpelledWord> spell(const std::vector<CountedWord>& words, const StringMap<int32_t>& alphabet) {
  std::vector<SpelledWord> spelled;
  for (const auto& [text, count] : words) {
    SpelledWord word{.count = count};
    const std::vector<std::string> characters = characters_of(text);
    for (const std::string& character : characters) {
      const auto found = alphabet.find(character);
      if (found == alphabet.end()) break;
      word.pieces.push_back(found->second);
    }
    const bool is_short = characters.size() <= static_cast<size_t>(most_word_characters);
    if (is_short && word.pieces.size() == characters.size()) spelled.push_back(std::move(word));
  }
  return spelled;
}

}  // namespace

void VocabularyTrainer::add(std::string_view text) {
  const std::string words = split_words(text);
  for_each_word(words, [this](std::string_view word) {
    const auto found = words_.find(word);
    if (found != words_.end())
      ++found->second;
    else
      words_.emplace(word, 1);
  });
}

Vocabulary VocabularyTrainer::train(int64_t size) const {
  if (size < fewest_tokens || size > most_tokens) {
    throw Error(Fault::usage, fmt::format("a vocabulary of {} tokens cannot be made", size), "vocabulary size",
                fmt::format("ask for {} to {}", fewest_tokens, most_tokens));
  }
  if (words_.empty()) throw Error(Fault::input, "there is no word to make a vocabulary of");
  std::vector<CountedWord> words(words_.begin(), words_.end());
  std::sort(words.begin(), words.end());
  Pieces pieces;
  for (const std::string_view name : special_token_names) pieces.number(std::string(name));
  StringMap<int32_t> alphabet;
  for (const std::string& character : choose_alphabet(words, static_cast<size_t>(size / 2))) {
    alphabet.emplace(character, pieces.number(character));
  }
  PieceMerger merger(pieces, spell(words, alphabet));
  while (pieces.size() < size && merger.merge_best()) {
  }
  return Vocabulary(pieces.take(), "the vocabulary made from the corpus");
}

}  // namespace gpusizer
