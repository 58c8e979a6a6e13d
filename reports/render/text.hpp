// SPDX-License-Identifier: Apache-2.0
// Text for a terminal: how wide it is, and how text from a stranger's report is made harmless.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gpusizer::render {

// The same text with everything made visible that could steer a terminal or hide other text: control characters,
// line ends, direction marks and invisible ones become "\x1b", "\n", "\u202e"; bytes that are not UTF-8 become "\xff".
std::string printable(std::string_view untrusted);

// The same text for HTML and XML, between tags or within quotes; control characters, which XML cannot have, become blanks.
std::string markup_text(std::string_view untrusted);

// Columns that UTF-8 text takes on a terminal: 0 for combining marks, 2 for wide East Asian characters and emoji.
std::size_t display_width(std::string_view text);

// The longest beginning of `text` that is at most `width` columns, ending in "…" (or "." where width is 1) if cut.
std::string cut_to_width(std::string_view text, std::size_t width);

// Lines of at most `width` columns, broken at spaces; a longer word is broken where it must be.
std::vector<std::string> wrap_to_width(std::string_view text, std::size_t width);

}  // namespace gpusizer::render
