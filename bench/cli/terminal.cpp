// SPDX-License-Identifier: Apache-2.0
// Asks the system about the terminal.
#include "bench/cli/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace gpusizer::cli {
namespace {

constexpr std::size_t kUsualWidth = 80;

std::size_t width_of(int descriptor) {
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kUsualWidth;
  return size.ws_col;
}

bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

bool dumb() {
  const char* term = std::getenv("TERM");
  return term == nullptr || std::string_view(term) == "dumb";
}

}  // namespace

bool stdout_is_terminal() { return isatty(STDOUT_FILENO) == 1; }
bool stderr_is_terminal() { return isatty(STDERR_FILENO) == 1; }

render::Look look_of_stdout() {
  if (!stdout_is_terminal()) return {};
  return {.width = width_of(STDOUT_FILENO), .colour = !is_set("NO_COLOR") && !dumb()};
}

std::size_t width_of_stderr() { return width_of(STDERR_FILENO); }

}  // namespace gpusizer::cli
