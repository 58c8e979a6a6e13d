// SPDX-License-Identifier: Apache-2.0
// Keeps the pairs in a queue; what has become rarer since it was queued is put back when its turn comes.
#include "workloads/data/piece_merger.hpp"

#include <algorithm>

namespace gpusizer {

namespace {

constexpr int64_t fewest_pairs = 2;  // a pair seen less often is no piece

uint64_t pair_key_of(int32_t left, int32_t right) {
  return (uint64_t{static_cast<uint32_t>(left)} << 32u) | static_cast<uint32_t>(right);
}
int32_t left_of(uint64_t key) { return static_cast<int32_t>(key >> 32u); }
int32_t right_of(uint64_t key) { return static_cast<int32_t>(key & 0xffffffffu); }

bool has_pair(const std::vector<int32_t>& pieces, uint64_t key) {
  for (size_t i = 0; i + 1 < pieces.size(); ++i) {
    if (pair_key_of(pieces[i], pieces[i + 1]) == key) return true;
  }
  return false;
}

void join_in(std::vector<int32_t>& pieces, uint64_t key, int32_t joined) {
  size_t kept = 0;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const bool pair = i + 1 < pieces.size() && pair_key_of(pieces[i], pieces[i + 1]) == key;
    pieces[kept++] = pair ? joined : pieces[i];
    if (pair) ++i;
  }
  pieces.resize(kept);
}

}  // namespace

bool PieceMerger::Later::operator()(const Candidate& a, const Candidate& b) const {
  if (a.count != b.count) return a.count < b.count;
  const int by_left = pieces.text(left_of(a.key)).compare(pieces.text(left_of(b.key)));
  return by_left != 0 ? by_left > 0 : pieces.text(right_of(a.key)) > pieces.text(right_of(b.key));
}

PieceMerger::PieceMerger(Pieces& pieces, std::vector<SpelledWord> words) : pieces_(pieces), words_(std::move(words)) {
  for (size_t word = 0; word < words_.size(); ++word) count_pairs(word, 1);
  for (const auto& [key, pair] : pairs_) queue_.push({pair.count, key});
}

bool PieceMerger::merge_best() {
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

// Adds (sign 1) or takes away (-1) what a word contributes.
void PieceMerger::count_pairs(size_t index, int64_t sign) {
  const SpelledWord& word = words_[index];
  for (size_t i = 0; i + 1 < word.pieces.size(); ++i) {
    Pair& pair = pairs_[pair_key_of(word.pieces[i], word.pieces[i + 1])];
    pair.count += sign * word.count;
    const bool listed = !pair.words.empty() && pair.words.back() == index;
    if (sign > 0 && !listed) pair.words.push_back(static_cast<uint32_t>(index));
  }
}

void PieceMerger::merge(Key key, const std::vector<uint32_t>& places) {
  const int32_t joined = pieces_.join(left_of(key), right_of(key));
  touched_.clear();
  for (const uint32_t index : places) {
    std::vector<int32_t>& pieces = words_[index].pieces;
    if (!has_pair(pieces, key)) continue;  // listed twice, or merged in another way meanwhile
    count_pairs(index, -1);
    join_in(pieces, key, joined);
    count_pairs(index, 1);
    for (size_t i = 0; i + 1 < pieces.size(); ++i) {
      if (pieces[i] == joined || pieces[i + 1] == joined) touched_.push_back(pair_key_of(pieces[i], pieces[i + 1]));
    }
  }
  pairs_.erase(key);
  std::sort(touched_.begin(), touched_.end());
  touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
  for (const Key pair : touched_) queue_.push({pairs_[pair].count, pair});
}

}  // namespace gpusizer
