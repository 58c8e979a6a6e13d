// SPDX-License-Identifier: Apache-2.0
// Opening and reading files with the system's own calls, so that the reason of a failure is known.
#include "workloads/data/data_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "gpusizer/error.hpp"

namespace gpusizer {

namespace {

[[noreturn]] void refuse(const std::string& path, int error) {
  const std::string reason = std::generic_category().message(error);
  if (error == ENOENT || error == ENOTDIR) throw Error(Fault::input, "there is no such file", path);
  if (error == EACCES || error == EPERM) {
    throw Error(Fault::input, "the file may not be read: " + reason, path, "give this user the permission to read it");
  }
  throw Error(Fault::input, "the file cannot be read: " + reason, path);
}

}  // namespace

DataFile::DataFile(const std::filesystem::path& path) : path_(path.string()) {
  // O_NONBLOCK: opening a named pipe that nobody writes to must come back.
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) refuse(path_, errno);
  struct stat status {};
  const int failed = ::fstat(descriptor_, &status);
  const int error = errno;
  if (failed == 0 && S_ISREG(status.st_mode)) {
    size_bytes_ = static_cast<int64_t>(status.st_size);
    return;
  }
  ::close(descriptor_);  // the destructor of a half-made object does not run
  if (failed != 0) refuse(path_, error);
  throw Error(Fault::input,
              S_ISDIR(status.st_mode) ? "a folder is where a file is expected" : "this is not a regular file", path_);
}

DataFile::~DataFile() { ::close(descriptor_); }

int64_t DataFile::read_some(std::span<uint8_t> bytes) {
  while (true) {
    const ssize_t count = ::read(descriptor_, bytes.data(), bytes.size());
    if (count >= 0) return static_cast<int64_t>(count);
    if (errno != EINTR) refuse(path_, errno);
  }
}

std::vector<uint8_t> read_whole_file(const std::filesystem::path& path, int64_t most_bytes) {
  DataFile file(path);
  if (file.size_bytes() > most_bytes) {
    throw Error(Fault::input,
                fmt::format("the file has {} bytes, more than the {} allowed", file.size_bytes(), most_bytes),
                file.path());
  }
  std::vector<uint8_t> bytes(static_cast<size_t>(file.size_bytes()));
  size_t filled = 0;
  while (filled < bytes.size()) {
    const int64_t count = file.read_some(std::span(bytes).subspan(filled));
    if (count == 0)
      throw Error(Fault::input, fmt::format("the file shrank to {} bytes while it was read", filled), file.path());
    filled += static_cast<size_t>(count);
  }
  return bytes;
}

int64_t most_memory_bytes() {
  return static_cast<int64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<int64_t>(::sysconf(_SC_PAGESIZE)) / 2;
}

}  // namespace gpusizer
