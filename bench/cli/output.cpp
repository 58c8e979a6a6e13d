// SPDX-License-Identifier: Apache-2.0
// Writes a command's text.
#include "bench/cli/output.hpp"

#include <csignal>
#include <iostream>

#include "reports/record/atomic_file.hpp"

namespace gpusizer::cli {

void put_text(const std::string& text, const std::optional<std::string>& out) {
  if (!out) {
    std::cout << text;
    return;
  }
  std::signal(SIGXFSZ, SIG_IGN);  // a file-size limit is to be a write error with a sentence, not the end of the program
  record::write_file_atomically(*out, text);
}

}  // namespace gpusizer::cli
