// SPDX-License-Identifier: Apache-2.0
// A regular file opened for reading, with every way this can fail said in one sentence that names the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace gpusizer {

// Refuses (Error, Fault::input) what is missing, not permitted, a folder, or not a regular file (a pipe would hang).
class DataFile {
 public:
  explicit DataFile(const std::filesystem::path& path);
  ~DataFile();
  DataFile(const DataFile&) = delete;
  DataFile& operator=(const DataFile&) = delete;

  const std::string& path() const { return path_; }
  int64_t size_bytes() const { return size_bytes_; }

  // Reads up to bytes.size() bytes and returns how many; 0 only at the end of the file.
  int64_t read_some(std::span<uint8_t> bytes);

 private:
  std::string path_;
  int descriptor_ = -1;
  int64_t size_bytes_ = 0;
};

// The whole file. One of more than `most_bytes` is refused before it is read.
std::vector<uint8_t> read_whole_file(const std::filesystem::path& path, int64_t most_bytes);

// Half of this machine's memory: no source or loader takes more than that.
int64_t most_memory_bytes();

}  // namespace gpusizer
