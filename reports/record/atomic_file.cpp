// SPDX-License-Identifier: Apache-2.0
// Writing a whole file at once with POSIX calls, and reading one with a limit.
#include "reports/record/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include "gpusizer/error.hpp"

namespace gpusizer::record {
namespace {

namespace fs = std::filesystem;

std::string hint_for(int code) {
  switch (code) {
    case ENOSPC: case EDQUOT: return "free some space or choose another path";
    case EFBIG: return "raise the limit on file sizes (ulimit -f) or choose another path";
    case ENOENT: case ENOTDIR: return "make the folder first";
    default: return "choose another path";
  }
}

[[noreturn]] void cannot_write(const fs::path& path, int code) {
  throw Error(Fault::environment, "cannot write the file: " + std::generic_category().message(code), path.string(),
              hint_for(code));
}

// A file descriptor with its temporary file: closed, and removed unless kept.
class TemporaryFile {
 public:
  // `old` is the file that will be replaced, if there is one: its permissions are kept.
  TemporaryFile(const fs::path& folder, const fs::path& target, const struct stat* old) : target_(target) {
    // Names left by a killed process with our number are stepped over.
    for (int attempt = 0; attempt < 100; ++attempt) {
      path_ = folder / (".gpusizer-" + std::to_string(::getpid()) + "-" + std::to_string(attempt) + ".tmp");
      descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (descriptor_ >= 0 || errno != EEXIST) break;
    }
    if (descriptor_ < 0) cannot_write(target_, errno);
    if (old && ::fchmod(descriptor_, old->st_mode & 07777) != 0) give_up(errno);
  }
  ~TemporaryFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  void write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ::ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) cannot_write(target_, written < 0 ? errno : ENOSPC);
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  void finish() {
    if (::fsync(descriptor_) != 0 && errno != EINVAL && errno != EROFS) cannot_write(target_, errno);
    const int closed = ::close(std::exchange(descriptor_, -1));
    if (closed != 0 && errno != EINTR) cannot_write(target_, errno);
    if (::rename(path_.c_str(), target_.c_str()) != 0) cannot_write(target_, errno);
    path_.clear();
  }

 private:
  // For the constructor, after whose failure no destructor runs.
  [[noreturn]] void give_up(int code) {
    ::close(descriptor_);
    ::unlink(path_.c_str());
    cannot_write(target_, code);
  }

  fs::path path_, target_;
  int descriptor_ = -1;
};

// Where a link points to, so that writing through it does not replace the link.
fs::path real_target(const fs::path& path) {
  std::error_code fault;
  if (!fs::is_symlink(path, fault)) return path;
  const fs::path real = fs::canonical(path, fault);
  if (fault)
    throw Error(Fault::environment, "cannot write the file: the path is a link that leads nowhere", path.string(),
                "remove the link or choose another path");
  return real;
}

struct OpenFile {
  int descriptor;
  ~OpenFile() {
    if (descriptor >= 0) ::close(descriptor);
  }
};

// The rename is on the disk only when the folder is; a file system that cannot do it has done what it can.
void flush_folder(const fs::path& folder) {
  const OpenFile file{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (file.descriptor >= 0) ::fsync(file.descriptor);
}

}  // namespace

void write_file_atomically(const fs::path& path, std::string_view bytes) {
  const fs::path target = real_target(path);
  struct stat status {};
  const bool exists = ::stat(target.c_str(), &status) == 0;
  if (target.empty() || (exists && !S_ISREG(status.st_mode)))
    throw Error(Fault::environment, "cannot write the file: the path is not that of a regular file", path.string(),
                "give the path of a file, such as report.json");
  // A rename asks only for the folder's permission; a file made read-only is meant to stay.
  if (exists && ::access(target.c_str(), W_OK) != 0) cannot_write(target, errno);
  if (exists && (status.st_mode & 0222) == 0) cannot_write(target, EACCES);  // root may write everything
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  TemporaryFile file(folder, target, exists ? &status : nullptr);
  file.write(bytes);
  file.finish();
  flush_folder(folder);
}

std::string read_whole_file(const fs::path& path, std::size_t most_bytes) {
  const auto cannot_read = [&](int code) {
    throw Error(Fault::input, "cannot read the file: " + std::generic_category().message(code), path.string());
  };
  const auto limit_size = [&](std::size_t bytes) {
    if (bytes > most_bytes)
      throw Error(Fault::input, "the file is larger than " + std::to_string(most_bytes) + " bytes", path.string());
  };
  const OpenFile file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  struct stat status {};
  if (file.descriptor < 0 || ::fstat(file.descriptor, &status) != 0) cannot_read(errno);
  limit_size(S_ISREG(status.st_mode) ? static_cast<std::size_t>(status.st_size) : 0);
  std::string bytes;
  std::array<char, 65536> buffer;
  while (true) {
    const ::ssize_t got = ::read(file.descriptor, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) cannot_read(errno);
    if (got == 0) return bytes;
    bytes.append(buffer.data(), static_cast<std::size_t>(got));
    limit_size(bytes.size());
  }
}

}  // namespace gpusizer::record
