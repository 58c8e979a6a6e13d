// SPDX-License-Identifier: Apache-2.0
// Claims a name with O_EXCL, which no two processes can win.
#include "bench/cli/default_out.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>

namespace gpusizer::cli {

namespace fs = std::filesystem;

DefaultOut::DefaultOut(const fs::path& folder, const std::string& time) {
  std::string digits = time;
  std::erase_if(digits, [](char c) { return c == ':' || c == '-'; });
  const std::string stem = "gpusizer-" + digits;
  for (int number = 1; !made_; ++number) {
    path_ = folder / (number == 1 ? stem + ".json" : fmt::format("{}-{}.json", stem, number));
    const int descriptor = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0 && errno != EEXIST) return;
    made_ = descriptor >= 0;
    if (made_) ::close(descriptor);
  }
}

DefaultOut::~DefaultOut() {
  std::error_code error;
  if (made_ && fs::file_size(path_, error) == 0 && !error) fs::remove(path_, error);
}

}  // namespace gpusizer::cli
