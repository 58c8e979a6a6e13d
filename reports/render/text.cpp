// SPDX-License-Identifier: Apache-2.0
// UTF-8 for terminals: decoding, widths, cutting, wrapping, and harmless text.
#include "reports/render/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace gpusizer::render {
namespace {

struct Range {
  std::uint32_t first, last;
};

// Characters that take no column (combining marks, most of Unicode's Mn in common scripts).
constexpr std::array<Range, 8> zero_wide = {{{0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x064B, 0x065F},
                                             {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x20D0, 0x20FF}, {0xFE00, 0xFE2F}}};

// Characters that take two columns (East Asian wide and fullwidth blocks, emoji).
constexpr std::array<Range, 9> two_wide = {{{0x1100, 0x115F}, {0x2E80, 0x303E}, {0x3041, 0xA4CF}, {0xAC00, 0xD7A3},
                                            {0xF900, 0xFAFF}, {0xFE30, 0xFE6F}, {0xFF00, 0xFF60}, {0x1F300, 0x1FAFF},
                                            {0x20000, 0x3FFFD}}};

// Characters that steer or hide: C0, DEL, C1, zero-width ones, line separators, direction marks, tags.
constexpr std::array<Range, 9> steering = {{{0x00, 0x1F}, {0x7F, 0x9F}, {0xAD, 0xAD}, {0x061C, 0x061C},
                                            {0x200B, 0x200F}, {0x2028, 0x202E}, {0x2060, 0x206F}, {0xFEFF, 0xFEFF},
                                            {0xE0000, 0xE0FFF}}};

template <std::size_t n>
bool within(const std::array<Range, n>& ranges, std::uint32_t code) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [code](const Range& range) { return code >= range.first && code <= range.last; });
}

struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 1;
  bool valid = false;
};

constexpr std::array<std::uint32_t, 5> smallest_of_length = {0, 0, 0x80, 0x800, 0x10000};

Character decode(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return {lead, 1, false};
  std::uint32_t code = lead & (0x7Fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xC0u) != 0x80u) return {lead, 1, false};
    code = code << 6u | (next & 0x3Fu);
  }
  const bool valid = code >= smallest_of_length[bytes] && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
  return valid ? Character{code, bytes, true} : Character{lead, 1, false};
}

std::size_t width_of(const Character& character) {
  if (!character.valid) return 1;
  if (within(zero_wide, character.code)) return 0;
  return within(two_wide, character.code) ? 2 : 1;
}

std::string visible(const Character& character) {
  if (!character.valid) return fmt::format("\\x{:02x}", character.code);
  if (character.code == '\n') return "\\n";
  if (character.code == '\t') return "\\t";
  if (character.code < 0x100) return fmt::format("\\x{:02x}", character.code);
  return fmt::format("\\u{:04x}", character.code);
}

// The bytes of the beginning of `text` that fits in `width` columns.
std::size_t bytes_within(std::string_view text, std::size_t width) {
  std::size_t at = 0, used = 0;
  while (at < text.size()) {
    const Character character = decode(text.substr(at));
    used += width_of(character);
    if (used > width) break;
    at += character.bytes;
  }
  return at;
}

}  // namespace

std::string printable(std::string_view untrusted) {
  std::string clean;
  clean.reserve(untrusted.size());
  for (std::size_t at = 0; at < untrusted.size();) {
    const Character character = decode(untrusted.substr(at));
    if (character.valid && !within(steering, character.code))
      clean += untrusted.substr(at, character.bytes);
    else
      clean += visible(character);
    at += character.bytes;
  }
  return clean;
}

std::string markup_text(std::string_view untrusted) {
  std::string safe;
  for (const char c : untrusted) {
    if (c == '&') safe += "&amp;";
    else if (c == '<') safe += "&lt;";
    else if (c == '>') safe += "&gt;";
    else if (c == '"') safe += "&quot;";
    else if (c == '\'') safe += "&#39;";
    else safe += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return safe;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Character character = decode(text.substr(at));
    width += width_of(character);
    at += character.bytes;
  }
  return width;
}

std::string cut_to_width(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return "";
  if (width == 1) return ".";
  return std::string(text.substr(0, bytes_within(text, width - 1))) + "…";
}

std::vector<std::string> wrap_to_width(std::string_view text, std::size_t width) {
  if (width == 0) return {std::string(text)};
  std::vector<std::string> lines;
  while (display_width(text) > width) {
    std::size_t end = bytes_within(text, width);
    if (end == 0) end = decode(text).bytes;  // one character wider than the line: better too wide than for ever
    const std::size_t space = text.substr(0, end + 1).rfind(' ');
    const bool at_space = space != std::string_view::npos && space > 0;
    lines.emplace_back(text.substr(0, at_space ? space : end));
    text.remove_prefix(at_space ? space + 1 : end);
  }
  if (!text.empty() || lines.empty()) lines.emplace_back(text);
  return lines;
}

}  // namespace gpusizer::render
