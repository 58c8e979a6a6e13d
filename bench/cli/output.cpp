// SPDX-License-Identifier: Apache-2.0
// Writes a command's text.
#include "bench/cli/output.hpp"

#include <csignal>
#include <filesystem>
#include <iostream>
#include <system_error>

#include "gpusizer/error.hpp"
#include "reports/record/atomic_file.hpp"

namespace gpusizer::cli {

void refuse_input_as_output(const std::optional<std::string>& out, const std::vector<std::string>& inputs) {
  if (!out) return;
  for (const std::string& input : inputs) {
    std::error_code error;  // of a file that is not there: then the two are not the same
    if (std::filesystem::equivalent(*out, input, error) && !error)
      throw Error(Fault::usage, "the output would replace the input " + input, "--out", "name another file");
  }
}

void put_text(const std::string& text, const std::optional<std::string>& out) {
  if (!out) {
    std::cout << text;
    return;
  }
  std::signal(SIGXFSZ, SIG_IGN);  // a file-size limit is to be a write error with a sentence, not the end of the program
  record::write_file_atomically(*out, text);
}

}  // namespace gpusizer::cli
