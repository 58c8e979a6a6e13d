// SPDX-License-Identifier: Apache-2.0
// gpusizer: finds the command, runs it, and turns whatever it throws into one sentence and an exit code.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <vector>

#include "bench/cli/command.hpp"
#include "gpusizer/error.hpp"
#include "reports/render/text.hpp"

namespace gpusizer::cli {
namespace {

int complain(const std::string& sentence, int code) {
  std::fputs(("gpusizer: " + render::printable(sentence) + "\n").c_str(), stderr);
  return code;
}

// What was promised on standard output must have arrived there: a full disk or a closed pipe is an error too.
int flushed(int code) {
  std::cout.flush();
  if (std::cout.good()) return code;
  return complain("standard output cannot be written; check the disk or the pipe it goes to", 5);
}

int run(const std::vector<std::string>& words) {
  try {
    const std::vector<std::string> call = as_command(words);
    return flushed(find_command(call.front()).run({call.begin() + 1, call.end()}));
  } catch (const Error& error) {
    return complain(error.what(), error.exit_code());
  } catch (const std::bad_alloc&) {
    return complain("the system gave no more memory; free some or use a smaller request", 4);
  } catch (const std::exception& error) {
    return complain(fmt::format("an error that should not happen: {}; please report it", error.what()), 4);
  }
}

}  // namespace
}  // namespace gpusizer::cli

int main(int count, char** words) {
  if (count < 1) return 2;
  return gpusizer::cli::run({words + 1, words + count});
}
