// SPDX-License-Identifier: Apache-2.0
// Words are split character by character; pieces are found by trying the longest first.
#include "workloads/data/wordpiece.hpp"

#include <algorithm>
#include <array>

#include "workloads/data/letters.hpp"
#include "workloads/data/utf8.hpp"

namespace gpusizer {

namespace {

// Writes words with one space between them.
class WordWriter {
 public:
  explicit WordWriter(size_t bytes) { words_.reserve(bytes + bytes / 4); }

  void end_word() { inside_ = false; }

  void add(char32_t character) {
    if (!inside_ && !words_.empty()) words_ += ' ';
    inside_ = true;
    if (character < 0x80)
      words_ += static_cast<char>(character);
    else
      append_character(words_, character);
  }

  std::string take() { return std::move(words_); }

 private:
  std::string words_;
  bool inside_ = false;
};

// A Korean syllable is two or three letters (Unicode, chapter 3.12).
bool add_syllable(char32_t character, WordWriter& writer) {
  constexpr char32_t first = 0xac00, last = 0xd7a3, vowels = 21, finals = 28;
  if (character < first || character > last) return false;
  const char32_t syllable = character - first;
  writer.add(0x1100 + syllable / (vowels * finals));
  writer.add(0x1161 + syllable / finals % vowels);
  if (syllable % finals != 0) writer.add(0x11a7 + syllable % finals);
  return true;
}

std::array<Letter, 128> classify_ascii_letters() {
  std::array<Letter, 128> letters;
  for (char32_t character = 0; character < letters.size(); ++character) {
    letters[character] = classify_letter(character);
  }
  return letters;
}

bool is_character_start(char byte) { return (static_cast<unsigned char>(byte) & 0xc0u) != 0x80u; }

}  // namespace

std::string split_words(std::string_view text) {
  static const std::array<Letter, 128> ascii_letters = classify_ascii_letters();
  WordWriter writer(text.size());
  for (size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const bool is_ascii = byte < 0x80;
    const char32_t character = is_ascii ? (++at, byte) : next_character(text, at);
    const Letter letter = is_ascii ? ascii_letters[byte] : classify_letter(character);
    if (letter.kind == LetterKind::nothing) continue;
    if (letter.kind != LetterKind::word) writer.end_word();
    if (letter.kind == LetterKind::space || add_syllable(character, writer)) continue;
    writer.add(letter.plain);
    if (letter.kind == LetterKind::mark) writer.end_word();
  }
  return writer.take();
}

WordPiece::WordPiece(const Vocabulary& vocabulary) : unknown_(vocabulary.special().unknown) {
  for (int32_t id = 0; id < vocabulary.size(); ++id) {
    const std::string& token = vocabulary.token(id);
    const bool continues = token.starts_with("##") && token.size() > 2;
    if (continues) continuations_.emplace(token.substr(2), id);
    beginnings_.emplace(token, id);
    longest_piece_ = std::max(longest_piece_, token.size() - (continues ? 2 : 0));
  }
}

void WordPiece::encode(std::string_view text, std::vector<int32_t>& ids) const {
  const std::string words = split_words(text);
  for_each_word(words, [&](std::string_view word) { encode_word(word, ids); });
}

std::vector<int32_t> WordPiece::encode(std::string_view text) const {
  std::vector<int32_t> ids;
  encode(text, ids);
  return ids;
}

void WordPiece::encode_word(std::string_view word, std::vector<int32_t>& ids) const {
  const size_t ids_before = ids.size();
  const auto characters = std::count_if(word.begin(), word.end(), is_character_start);
  size_t begin = characters > most_word_characters ? std::string_view::npos : 0;
  while (begin < word.size()) {
    const StringMap<int32_t>& pieces = begin == 0 ? beginnings_ : continuations_;
    size_t end = std::min(word.size(), begin + longest_piece_);
    auto piece = pieces.end();
    while (end > begin && (piece = pieces.find(word.substr(begin, end - begin))) == pieces.end()) --end;
    if (piece == pieces.end()) {
      begin = std::string_view::npos;
      break;
    }
    ids.push_back(piece->second);
    begin = end;
  }
  if (begin == word.size()) return;
  ids.resize(ids_before);
  ids.push_back(unknown_);
}

}  // namespace gpusizer
