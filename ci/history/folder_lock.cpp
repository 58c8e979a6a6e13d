// SPDX-License-Identifier: Apache-2.0
// flock on a file that is never removed.
#include "ci/history/folder_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>

#include "gpusizer/error.hpp"

namespace gpusizer::ci {

FolderLock::FolderLock(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / ".lock";
  descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0)
    throw Error(Fault::environment, "cannot lock the history: " + std::generic_category().message(errno), path.string());
  using namespace std::chrono_literals;
  for (const auto end = std::chrono::steady_clock::now() + 2min; std::chrono::steady_clock::now() < end;) {
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
    if (errno != EWOULDBLOCK && errno != EINTR) break;
    std::this_thread::sleep_for(2ms);
  }
  ::close(descriptor_);
  throw Error(Fault::environment, "another job has held the history for two minutes", path.string(), "look for it, or try again");
}

FolderLock::~FolderLock() { ::close(descriptor_); }

}  // namespace gpusizer::ci
