// SPDX-License-Identifier: Apache-2.0
// Reads a file forwards, unpacking it on the way when it is a .gz; truncated and damaged packing is refused by offset.
#pragma once

#include <memory>
#include <string_view>

#include "workloads/data/data_file.hpp"

namespace gpusizer {

// Whether the file is packed is told by its first two bytes, not by its name. Offsets in errors are those of the
// unpacked bytes, except where the packing itself is damaged: there the error says "packed byte".
class PackedFile {
 public:
  explicit PackedFile(const std::filesystem::path& path);
  ~PackedFile();

  const std::string& path() const { return file_.path(); }
  bool packed() const;
  int64_t offset() const { return offset_; }  // of the next unpacked byte
  // No more bytes than this can come out: the file's size, or what deflate could make of it at best.
  int64_t most_bytes() const;

  // Exactly `count` bytes, or an error that says that `what` ("the pixels") is cut short and where. A vector grows as
  // the bytes come, so a header that promises too much costs no memory.
  std::vector<uint8_t> read(int64_t count, std::string_view what);
  // Refuses any byte that is left.
  void expect_end();

  // "path, byte 16": for errors about what was read.
  std::string where(int64_t offset) const;

 private:
  struct Unpacker;  // hides zlib
  int64_t read_some(std::span<uint8_t> bytes);

  DataFile file_;
  std::vector<uint8_t> buffer_;  // stored bytes read ahead: buffer_[next_ .. filled_)
  size_t next_ = 0, filled_ = 0;
  int64_t offset_ = 0;
  std::unique_ptr<Unpacker> unpacker_;  // null: the file is not packed
};

}  // namespace gpusizer
