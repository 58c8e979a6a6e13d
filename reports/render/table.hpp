// SPDX-License-Identifier: Apache-2.0
// A table of text fitted to the width of a terminal; the report, advise and list commands all print with it.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <vector>

namespace gpusizer::render {

enum class Align { left, right };

// What a cell means; shown as a colour if colours are asked for, and never by colour alone.
enum class Tone { plain, good, warning, bad, faint };

struct Column {
  std::string heading;
  Align align = Align::left;
  int drop_order = 0;         // 0: always shown; otherwise the highest is left out first when the width is too small
  std::size_t min_width = 0;  // 0: never narrower than its content; otherwise cells wrap at spaces down to this width
};

struct Cell {
  std::string text;
  Tone tone = Tone::plain;

  Cell(std::string content = "", Tone meaning = Tone::plain) : text(std::move(content)), tone(meaning) {}  // NOLINT
  Cell(const char* content, Tone meaning = Tone::plain) : text(content), tone(meaning) {}                  // NOLINT
};

struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;  // a row may be shorter than the columns; a longer one is an Error
};

struct Look {
  std::size_t width = 0;  // columns of the terminal; 0: unlimited
  bool colour = false;    // ANSI colours; without them the text has no escape character at all
};

// Heading, a rule, the rows, each line ending in '\n' without trailing spaces. Cells are made printable here, so
// untrusted text may be passed as it is. Columns that had to be left out are named in a last line.
std::string layout(const Table& table, const Look& look = {});

// `text` in the colour of `tone`, if colours are asked for. The text must be printable already.
std::string toned(const std::string& text, Tone tone, bool colour);

}  // namespace gpusizer::render
