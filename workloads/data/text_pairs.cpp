// SPDX-License-Identifier: Apache-2.0
// One walk over the lines; random choices come from a generator with a fixed key, so that a text gives the same pairs.
#include "workloads/data/text_pairs.hpp"

#include <algorithm>

#include "workloads/data/sample_random.hpp"

namespace gpusizer {

namespace {

constexpr uint64_t pair_key = 0x70616972;     // any number
constexpr int64_t fewest_tokens_of_rest = 8;  // what a document leaves over is dropped when it is shorter
constexpr int tries = 10;                     // to find a passage elsewhere

class Arranger {
 public:
  Arranger(const TokenLines& lines, int64_t sequence, PairLength length)
      : lines_(lines), budget_(sequence - 3), length_(length) {
    find_passages();
  }

  std::vector<TextPair> arrange() {
    for (size_t passage = 0; passage + 1 < passages_.size(); ++passage) {
      const int64_t end = passages_[passage + 1];
      for (int64_t line = passages_[passage]; line < end;) line = add_pair(line, end);
    }
    return std::move(pairs_);
  }

 private:
  int64_t begin_of(int64_t line) const { return lines_.line_begins[static_cast<size_t>(line)]; }
  int64_t tokens(int64_t line, int64_t end) const { return begin_of(end) - begin_of(line); }

  // Where the range that holds `line` begins (0) or ends (1).
  static int64_t bound(const std::vector<int64_t>& begins, int64_t line, int end) {
    return *(std::upper_bound(begins.begin(), begins.end(), line) - 1 + end);
  }

  // Passages are long documents, and runs of short ones.
  void find_passages() {
    bool in_run = false;
    for (int64_t document = 0; document < lines_.documents(); ++document) {
      const int64_t first = lines_.document_begins[static_cast<size_t>(document)];
      const bool is_short = tokens(first, lines_.document_begins[static_cast<size_t>(document) + 1]) < budget_;
      if (!(is_short && in_run)) passages_.push_back(first);
      in_run = is_short;
    }
    passages_.push_back(lines_.lines());
  }

  int64_t lines_end(int64_t line, int64_t passage_end) const {
    if (length_ == PairLength::natural) return std::min(line + 2, passage_end);
    int64_t end = line + 1;
    while (end < passage_end && tokens(line, end) < budget_) ++end;
    return end;
  }

  // Makes a pair of the lines from `line` on and returns the line to go on with.
  int64_t add_pair(int64_t line, int64_t passage_end) {
    const int64_t end = lines_end(line, passage_end), count = end - line;
    const int64_t all = std::min(tokens(line, end), budget_);
    const bool is_rest = end == passage_end && all < std::min(budget_, fewest_tokens_of_rest) && !pairs_.empty();
    if (all < 2 || is_rest) return end;
    const int64_t first_lines = count == 1 ? 1 : 1 + random_.below(count - 1);
    const int64_t first_tokens = count == 1 ? all / 2 : tokens(line, line + first_lines);
    TextPair pair{begin_of(line), begin_of(line) + first_tokens, static_cast<int32_t>(first_tokens),
                  static_cast<int32_t>(all - first_tokens)};
    const bool displaced = random_.coin() && take_elsewhere(pair, line, end);
    pairs_.push_back(pair);
    return displaced && length_ == PairLength::full ? line + first_lines : end;
  }

  bool take_elsewhere(TextPair& pair, int64_t line, int64_t end) {
    const int64_t room = budget_ - pair.first_tokens;
    int64_t best_tokens = 0;
    for (int i = 0; i < tries && best_tokens < room; ++i) {
      const int64_t other = random_.below(lines_.lines());
      if (!is_elsewhere(other, line, end)) continue;
      const int64_t other_end = length_ == PairLength::natural ? other + 1 : bound(passages_, other, 1);
      const int64_t found = std::min(room, tokens(other, other_end));
      if (found <= best_tokens) continue;
      best_tokens = found;
      pair.second_begin = begin_of(other);
      if (length_ == PairLength::natural) break;
    }
    if (best_tokens == 0) return false;
    pair.second_tokens = static_cast<int32_t>(best_tokens);
    pair.follows = false;
    return true;
  }

  bool is_elsewhere(int64_t other, int64_t line, int64_t end) const {
    if (lines_.documents() == 1) return other < line || other >= end;
    const std::vector<int64_t>& documents = lines_.document_begins;
    return other < bound(documents, line, 0) || other >= bound(documents, end - 1, 1);
  }

  const TokenLines& lines_;
  int64_t budget_;
  PairLength length_;
  SampleRandom random_{pair_key};
  std::vector<int64_t> passages_;
  std::vector<TextPair> pairs_;
};

}  // namespace

void TokenLines::add_line(std::span<const int32_t> tokens, int64_t most) {
  const auto count = static_cast<int64_t>(tokens.size());
  const int64_t parts = (count + most - 1) / most;
  const auto before = static_cast<int64_t>(ids.size());
  ids.insert(ids.end(), tokens.begin(), tokens.end());
  for (int64_t part = 1; part <= parts; ++part) line_begins.push_back(before + count * part / parts);
}

void TokenLines::end_document() {
  if (document_begins.back() < lines()) document_begins.push_back(lines());
}

std::vector<TextPair> arrange_pairs(const TokenLines& lines, int64_t sequence, PairLength length) {
  return Arranger(lines, sequence, length).arrange();
}

}  // namespace gpusizer
