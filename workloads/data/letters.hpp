// SPDX-License-Identifier: Apache-2.0
// What a tokenizer has to know of a character: its plain lower-case letter, and whether it parts words.
#pragma once

namespace gpusizer {

enum class LetterKind {
  word,     // letters, digits, symbols: part of a word
  space,    // between words
  mark,     // punctuation, or a Chinese character: a word of its own
  nothing,  // control and format characters, and accents that stand alone as characters: left out
};

struct Letter {
  LetterKind kind = LetterKind::word;
  char32_t plain = 0;  // in lower case, without accents
};

// As uncased BERT sees a character: lower case, then decomposed (Unicode's NFD) without nonspacing marks.
// Lower case and accents are known for Latin (with its extensions A, B and Additional), Greek (also the extended block)
// and Cyrillic; combining accents also for Hebrew and Arabic, Korean syllables are decomposed. Letters of other scripts
// stay as they are. Punctuation is that of the whole basic plane (Unicode 14).
Letter classify_letter(char32_t character);

}  // namespace gpusizer
