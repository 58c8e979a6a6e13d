// SPDX-License-Identifier: Apache-2.0
// Quotes words for a shell.
#include "bench/cli/command_text.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include "gpusizer/error.hpp"

namespace gpusizer::cli {

std::string shell_quoted(const std::string& word) {
  const auto harmless = [](unsigned char c) {
    return std::isalnum(c) || std::string_view("-_./=:,+@%").find(static_cast<char>(c)) != std::string_view::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), harmless)) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string command_text(const std::string& command, const std::vector<std::string>& arguments) {
  std::string text = "gpusizer " + command;
  for (const std::string& word : arguments) text.append(1, ' ').append(shell_quoted(word));
  return text;
}

std::vector<std::string> shell_words(const std::string& text) {
  std::vector<std::string> words;
  bool quoted = false, in_word = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!quoted && text[i] == ' ') {
      in_word = false;
      continue;
    }
    if (!std::exchange(in_word, true)) words.emplace_back();
    if (text[i] == '\'') quoted = !quoted;
    else if (!quoted && text[i] == '\\' && i + 1 < text.size()) words.back() += text[++i];
    else words.back() += text[i];
  }
  if (quoted) throw Error(Fault::input, "the command has a quote without an end", text);
  return words;
}

}  // namespace gpusizer::cli
