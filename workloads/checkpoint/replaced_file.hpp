// SPDX-License-Identifier: Apache-2.0
// A large file written piece by piece that appears under its name only when it is complete and on the disk.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace gpusizer {

// What a file that is being written is called: the name with this behind it. One that is left over belongs to a
// program that was killed and may be removed.
inline constexpr std::string_view unfinished_suffix = ".tmp";

// Every member throws Error(Fault::environment) with the path and the system's reason (a full disk, a missing folder, a
// limit: ignore SIGXFSZ for that one). Without finish() nothing is left behind, and a file of that name stays as it
// was.
class ReplacedFile {
 public:
  explicit ReplacedFile(std::filesystem::path target);
  ~ReplacedFile();
  ReplacedFile(const ReplacedFile&) = delete;
  ReplacedFile& operator=(const ReplacedFile&) = delete;

  void append(std::string_view bytes);
  void overwrite(std::int64_t offset, std::string_view bytes);  // bytes that were appended before
  // Flushes to the disk, renames onto the target, and flushes the folder.
  void finish();

  std::int64_t bytes() const { return bytes_; }

 private:
  [[noreturn]] void fail(int code) const;

  std::filesystem::path target_, unfinished_;
  int descriptor_ = -1;
  std::int64_t bytes_ = 0;
};

}  // namespace gpusizer
