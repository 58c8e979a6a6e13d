// SPDX-License-Identifier: Apache-2.0
// Byte-pair encoding: merges the most frequent pair of neighbouring pieces, again and again.
#pragma once

#include <cstdint>
#include <queue>
#include <string>
#include <unordered_map>
#include <vector>

#include "workloads/data/vocabulary.hpp"

namespace gpusizer {

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

struct SpelledWord {
  std::vector<int32_t> pieces;
  int64_t count = 0;
};

// Pair counts are kept up to date instead of counted anew, so that thousands of merges over a million words take
// seconds.
class PieceMerger {
 public:
  // `pieces` must outlive it.
  PieceMerger(Pieces& pieces, std::vector<SpelledWord> words);

  // The most frequent pair, of equals the first by its bytes, becomes one piece. False: none is there twice.
  bool merge_best();

 private:
  using Key = uint64_t;  // a pair of pieces
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
    bool operator()(const Candidate& a, const Candidate& b) const;
  };

  void count_pairs(size_t index, int64_t sign);
  void merge(Key key, const std::vector<uint32_t>& places);

  Pieces& pieces_;
  std::vector<SpelledWord> words_;
  std::unordered_map<Key, Pair> pairs_;
  std::priority_queue<Candidate, std::vector<Candidate>, Later> queue_{Later{pieces_}};
  std::vector<Key> touched_;
};

}  // namespace gpusizer
