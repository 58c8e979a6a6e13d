// SPDX-License-Identifier: Apache-2.0
// The command line as text that repeats the run when it is pasted into a shell.
#pragma once

#include <string>
#include <vector>

namespace gpusizer::cli {

// A word as a POSIX shell reads it back: as it is when harmless, else in single quotes.
std::string shell_quoted(const std::string& word);

std::string command_text(const std::string& command, const std::vector<std::string>& arguments);

// The words of such a text again. Throws Error(input) for a quote without an end.
std::vector<std::string> shell_words(const std::string& text);

}  // namespace gpusizer::cli
