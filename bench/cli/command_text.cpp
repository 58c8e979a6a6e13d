// SPDX-License-Identifier: Apache-2.0
// Quotes words for a shell.
#include "bench/cli/command_text.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

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

}  // namespace gpusizer::cli
