// SPDX-License-Identifier: Apache-2.0
// Write, flush, rename, flush the folder: with POSIX calls.
#include "workloads/checkpoint/replaced_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "gpusizer/error.hpp"

namespace gpusizer {
namespace {

const char* hint_for(int code) {
  switch (code) {
    case ENOSPC:
    case EDQUOT:
      return "free some space or choose another folder";
    case EFBIG:
      return "raise the limit on file sizes (ulimit -f)";
    case ENOENT:
    case ENOTDIR:
      return "make the folder first";
    default:
      return "choose another folder";
  }
}

// The rename is on the disk only when the folder is; a file system that cannot do it has done what it can.
void flush_folder(const std::filesystem::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

}  // namespace

ReplacedFile::ReplacedFile(std::filesystem::path target) : target_(std::move(target)), unfinished_(target_) {
  unfinished_ += unfinished_suffix;
  descriptor_ = ::open(unfinished_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail(errno);
}

ReplacedFile::~ReplacedFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!unfinished_.empty()) ::unlink(unfinished_.c_str());
}

void ReplacedFile::append(std::string_view bytes) {
  bytes_ += static_cast<std::int64_t>(bytes.size());
  while (!bytes.empty()) {
    const ::ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail(written < 0 ? errno : ENOSPC);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void ReplacedFile::overwrite(std::int64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    const ::ssize_t written = ::pwrite(descriptor_, bytes.data(), bytes.size(), offset);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail(written < 0 ? errno : ENOSPC);
    bytes.remove_prefix(static_cast<std::size_t>(written));
    offset += written;
  }
}

void ReplacedFile::finish() {
  // EINVAL and EROFS: what the path names cannot be flushed, and need not be.
  if (::fsync(descriptor_) != 0 && errno != EINVAL && errno != EROFS) fail(errno);
  if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) fail(errno);
  if (::rename(unfinished_.c_str(), target_.c_str()) != 0) fail(errno);
  unfinished_.clear();
  flush_folder(target_.has_parent_path() ? target_.parent_path() : std::filesystem::path("."));
}

void ReplacedFile::fail(int code) const {
  throw Error(Fault::environment, "cannot write the file: " + std::generic_category().message(code), target_.string(),
              hint_for(code));
}

}  // namespace gpusizer
