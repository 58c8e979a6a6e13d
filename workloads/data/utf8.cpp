// SPDX-License-Identifier: Apache-2.0
// Decoding as RFC 3629 defines it: no surrogates, nothing beyond U+10FFFF, no form longer than needed.
#include "workloads/data/utf8.hpp"

namespace gpusizer {

namespace {

// Bytes of a character by its first byte; 0: no character begins so.
size_t length_by(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0) return 2;
  if (first >= 0xe0 && first < 0xf0) return 3;
  return first >= 0xf0 && first < 0xf5 ? 4 : 0;
}

bool may_be(char32_t character, size_t length) {
  if (length == 3) return character >= 0x800 && (character < 0xd800 || character > 0xdfff);
  return length != 4 || (character >= 0x10000 && character <= 0x10ffff);
}

// 0 bytes when none is valid here.
size_t decode(std::string_view text, size_t at, char32_t& character) {
  const auto first = static_cast<unsigned char>(text[at]);
  const size_t length = length_by(first);
  if (length == 0 || at + length > text.size()) return 0;
  character = length == 1 ? first : first & (0x7fu >> length);
  for (size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(text[at + i]);
    if ((byte & 0xc0u) != 0x80u) return 0;
    character = (character << 6u) | (byte & 0x3fu);
  }
  return may_be(character, length) ? length : 0;
}

}  // namespace

char32_t next_character(std::string_view text, size_t& at) {
  char32_t character = replacement_character;
  const size_t length = decode(text, at, character);
  at += length == 0 ? 1 : length;
  return length == 0 ? replacement_character : character;
}

void append_character(std::string& text, char32_t character) {
  const auto byte = [&text](char32_t value) { text += static_cast<char>(value); };
  if (character < 0x80) return byte(character);
  if (character < 0x800) {
    byte(0xc0 | (character >> 6u));
  } else {
    if (character < 0x10000) {
      byte(0xe0 | (character >> 12u));
    } else {
      byte(0xf0 | (character >> 18u));
      byte(0x80 | ((character >> 12u) & 0x3fu));
    }
    byte(0x80 | ((character >> 6u) & 0x3fu));
  }
  byte(0x80 | (character & 0x3fu));
}

size_t find_invalid_utf8(std::string_view text) {
  char32_t character = 0;
  for (size_t at = 0; at < text.size();) {
    if (static_cast<unsigned char>(text[at]) < 0x80) {  // most are
      ++at;
      continue;
    }
    const size_t length = decode(text, at, character);
    if (length == 0) return at;
    at += length;
  }
  return std::string_view::npos;
}

}  // namespace gpusizer
