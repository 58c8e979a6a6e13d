// SPDX-License-Identifier: Apache-2.0
// Byte-pair merges over the distinct words, with pair counts that are kept up to date instead of counted anew.
#include "workloads/data/vocabulary_trainer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <queue>

#include "gpusizer/error.hpp"
#include "workloads/data/utf8.hpp"
#include "workloads/data/wordpiece.hpp"

namespace gpusizer {

namespace {

constexpr int64_t fewest_pairs = 2;  // a pair seen less often is no piece

// All pieces by number; two ways to put together the same letters give the same piece.
class Pieces {
 public:
  int32_t number(const std::string& text) {
    const auto [entry, is_new] = numbers_.emplace(text, static_cast<int32_t>(texts_.size()));
    if (is_new) texts_.push_back(text);
    return entry->second;
  }
  int32_t join(int32_t left, int32_t right) { return number(text(left) + text(right).substr(2)); }
  const std::string& text(int32_t piece) const { return texts_[static_cast<size_t>(piece)]; }
  int64_t size() const { return static_cast<int64_t>(texts_.size()); }
  std::vector<std::string> take() { return std::move(texts_); }

 private:
  std::vector<std::string> texts_;
  StringMap<int32_t> numbers_;
};

struct Word {
  std::vector<int32_t> pieces;
  int64_t count = 0;
};

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
std::vector<Word> spell(const std::vector<CountedWord>& words, const StringMap<int32_t>& alphabet) {
  std::vector<Word> spelled;
  for (const auto& [text, count] : words) {
    Word word{.count = count};
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

class Merger {
 public:
  Merger(Pieces& pieces, std::vector<Word> words) : pieces_(pieces), words_(std::move(words)) {
    for (size_t word = 0; word < words_.size(); ++word) count_pairs(word, 1);
    for (const auto& [key, pair] : pairs_) queue_.push({pair.count, key});
  }

  // The most frequent pair becomes one piece. False: none is frequent enough.
  bool merge_best() {
    while (!queue_.empty()) {
      const Candidate best = queue_.top();
      queue_.pop();
      const auto found = pairs_.find(best.key);
      if (found == pairs_.end()) continue;
      if (found->second.count < best.count) {  // what has fallen since it was queued goes back to its place
        if (found->second.count >= fewest_pairs) queue_.push({found->second.count, best.key});
        continue;
      }
      if (best.count < fewest_pairs) return false;
      const std::vector<uint32_t> places = std::move(found->second.words);
      merge(best.key, places);
      return true;
    }
    return false;
  }

 private:
  using Key = uint64_t;
  struct Pair {
    int64_t count = 0;
    std::vector<uint32_t> words;  // where it occurs, or has occurred
  };
  struct Candidate {
    int64_t count;
    Key key;
  };
  struct Later {
    const Pieces& pieces;
    bool operator()(const Candidate& a, const Candidate& b) const {
      if (a.count != b.count) return a.count < b.count;
      const int by_left = pieces.text(left(a.key)).compare(pieces.text(left(b.key)));
      return by_left != 0 ? by_left > 0 : pieces.text(right(a.key)) > pieces.text(right(b.key));
    }
  };

  static Key key_of(int32_t left, int32_t right) {
    return (static_cast<Key>(static_cast<uint32_t>(left)) << 32u) | static_cast<uint32_t>(right);
  }
  static int32_t left(Key key) { return static_cast<int32_t>(key >> 32u); }
  static int32_t right(Key key) { return static_cast<int32_t>(key & 0xffffffffu); }

  // Adds (sign 1) or takes away (-1) what a word contributes.
  void count_pairs(size_t index, int64_t sign) {
    const Word& word = words_[index];
    for (size_t i = 0; i + 1 < word.pieces.size(); ++i) {
      Pair& pair = pairs_[key_of(word.pieces[i], word.pieces[i + 1])];
      pair.count += sign * word.count;
      const bool listed = !pair.words.empty() && pair.words.back() == index;
      if (sign > 0 && !listed) pair.words.push_back(static_cast<uint32_t>(index));
    }
  }

  void merge(Key key, const std::vector<uint32_t>& places) {
    const int32_t joined = pieces_.join(left(key), right(key));
    touched_.clear();
    for (const uint32_t index : places) {
      std::vector<int32_t>& pieces = words_[index].pieces;
      if (!contains(pieces, key)) continue;  // listed twice, or merged in another way meanwhile
      count_pairs(index, -1);
      join_in(pieces, key, joined);
      count_pairs(index, 1);
      for (size_t i = 0; i + 1 < pieces.size(); ++i) {
        if (pieces[i] == joined || pieces[i + 1] == joined) touched_.push_back(key_of(pieces[i], pieces[i + 1]));
      }
    }
    pairs_.erase(key);
    std::sort(touched_.begin(), touched_.end());
    touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
    for (const Key pair : touched_) queue_.push({pairs_[pair].count, pair});
  }

  static bool contains(const std::vector<int32_t>& pieces, Key key) {
    for (size_t i = 0; i + 1 < pieces.size(); ++i) {
      if (key_of(pieces[i], pieces[i + 1]) == key) return true;
    }
    return false;
  }

  static void join_in(std::vector<int32_t>& pieces, Key key, int32_t joined) {
    size_t kept = 0;
    for (size_t i = 0; i < pieces.size(); ++i) {
      const bool pair = i + 1 < pieces.size() && key_of(pieces[i], pieces[i + 1]) == key;
      pieces[kept++] = pair ? joined : pieces[i];
      if (pair) ++i;
    }
    pieces.resize(kept);
  }

  Pieces& pieces_;
  std::vector<Word> words_;
  std::unordered_map<Key, Pair> pairs_;
  std::priority_queue<Candidate, std::vector<Candidate>, Later> queue_{Later{pieces_}};
  std::vector<Key> touched_;
};

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
  Merger merger(pieces, spell(words, alphabet));
  while (pieces.size() < size && merger.merge_best()) {
  }
  return Vocabulary(pieces.take(), "the vocabulary made from the corpus");
}

}  // namespace gpusizer
