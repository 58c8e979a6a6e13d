// SPDX-License-Identifier: Apache-2.0
// Characters of UTF-8 text, whatever bytes it really holds.
#pragma once

#include <string>
#include <string_view>

namespace gpusizer {

inline constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";  // some programs begin a file with it
inline constexpr char32_t replacement_character = 0xfffd;  // stands for a byte that is not UTF-8

// The character at `at`, which moves behind it. A byte that begins no valid character is one replacement_character.
// `at` must be below text.size().
char32_t next_character(std::string_view text, size_t& at);

void append_character(std::string& text, char32_t character);

// The byte at which the first invalid character begins; npos: all is valid.
size_t find_invalid_utf8(std::string_view text);

}  // namespace gpusizer
