// SPDX-License-Identifier: Apache-2.0
// Arranges the lines of a tokenized text as pairs of passages, of which the second follows the first or does not.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace gpusizer {

// Token ids of lines in documents, one behind the other; `begins` have one entry more: the end of the last.
struct TokenLines {
  std::vector<int32_t> ids;
  std::vector<int64_t> line_begins{0};      // places in ids
  std::vector<int64_t> document_begins{0};  // lines

  int64_t lines() const { return static_cast<int64_t>(line_begins.size()) - 1; }
  int64_t documents() const { return static_cast<int64_t>(document_begins.size()) - 1; }
  // A line of more than `most` tokens is cut into equal parts; one without tokens is left out.
  void add_line(std::span<const int32_t> tokens, int64_t most);
  void end_document();  // one without lines is left out
};

// Becomes [CLS] first [SEP] second [SEP]. Begins are places in TokenLines::ids.
struct TextPair {
  int64_t first_begin = 0, second_begin = 0;
  int32_t first_tokens = 0, second_tokens = 0;  // at least 1 each
  bool follows = true;                          // the second really follows the first

  int64_t sequence_tokens() const { return int64_t{first_tokens} + second_tokens + 3; }
  bool operator==(const TextPair&) const = default;
};

enum class PairLength {
  full,     // as many lines as the sequence takes, the last one cut; shorter only at the end of a document
  natural,  // a line and the next one
};

// Pairs for sequences of `sequence` tokens from lines of at most (sequence - 3) / 2. A document shorter than a sequence
// is joined with the short ones behind it. For half of the pairs, drawn by a fixed rule, the second passage is taken
// from another document (full: and the lines it displaces begin the next pair); when there is only one document, from
// another place; when there is none, the true one stays.
std::vector<TextPair> arrange_pairs(const TokenLines& lines, int64_t sequence, PairLength length);

}  // namespace gpusizer
