// SPDX-License-Identifier: Apache-2.0
// Unpacking with zlib, in pieces, with all of its checks (checksum and length at the end of a .gz included).
#include "workloads/data/packed_file.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "gpusizer/error.hpp"

namespace gpusizer {

namespace {
constexpr size_t buffer_bytes = size_t{1} << 18;
constexpr int64_t growth_bytes = int64_t{1} << 24;
constexpr int64_t best_packing = 1032;  // deflate's largest ratio: https://zlib.net/zlib_tech.html
constexpr uint8_t gzip_mark[2] = {0x1f, 0x8b};
constexpr int gzip_only = 16 + MAX_WBITS;
}  // namespace

// One zlib stream over a .gz, which may be made of several members put end to end.
struct PackedFile::Unpacker {
  struct Progress {
    size_t used, made;  // stored bytes taken, unpacked bytes given
  };

  Unpacker() {
    if (inflateInit2(&stream, gzip_only) != Z_OK) throw std::bad_alloc();
  }
  ~Unpacker() { inflateEnd(&stream); }

  Progress unpack(std::span<const uint8_t> stored, std::span<uint8_t> bytes, const std::string& path);
  [[noreturn]] void refuse(const std::string& what, const std::string& path) const {
    throw Error(Fault::input, what, fmt::format("{}, packed byte {}", path, packed_offset), "copy the file again");
  }

  z_stream stream{};
  bool inside_member = true;
  int64_t packed_offset = 0;  // stored bytes taken so far
};

PackedFile::Unpacker::Progress PackedFile::Unpacker::unpack(std::span<const uint8_t> stored, std::span<uint8_t> bytes,
                                                            const std::string& path) {
  if (stored.empty()) refuse("the .gz file ends before its data does", path);
  if (!inside_member) {
    if (stored[0] != gzip_mark[0]) refuse("something that is not .gz data follows the end of the .gz data", path);
    inflateReset(&stream);
    inside_member = true;
  }
  stream.next_in = const_cast<Bytef*>(stored.data());  // zlib reads only, but its type does not say so
  stream.avail_in = static_cast<uInt>(stored.size());
  stream.next_out = bytes.data();
  stream.avail_out = static_cast<uInt>(bytes.size());
  const int status = inflate(&stream, Z_NO_FLUSH);
  const Progress progress{stored.size() - stream.avail_in, bytes.size() - stream.avail_out};
  packed_offset += static_cast<int64_t>(progress.used);
  if (status == Z_STREAM_END) inside_member = false;
  if (status == Z_MEM_ERROR) throw std::bad_alloc();
  if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
    refuse(fmt::format("the .gz data is damaged: {}", stream.msg ? stream.msg : "zlib refuses it"), path);
  }
  return progress;
}

PackedFile::PackedFile(const std::filesystem::path& path) : file_(path), buffer_(buffer_bytes) {
  while (filled_ < sizeof gzip_mark) {
    const int64_t count = file_.read_some(std::span(buffer_).subspan(filled_));
    if (count == 0) break;
    filled_ += static_cast<size_t>(count);
  }
  if (filled_ >= sizeof gzip_mark && std::memcmp(buffer_.data(), gzip_mark, sizeof gzip_mark) == 0) {
    unpacker_ = std::make_unique<Unpacker>();
  }
}

PackedFile::~PackedFile() = default;

bool PackedFile::packed() const { return unpacker_ != nullptr; }

int64_t PackedFile::most_bytes() const { return packed() ? file_.size_bytes() * best_packing : file_.size_bytes(); }

std::string PackedFile::where(int64_t offset) const {
  return fmt::format("{}, {}byte {}", path(), packed() ? "unpacked " : "", offset);
}

// Fills `bytes` as far as one buffer of stored bytes goes; 0 only at the end.
int64_t PackedFile::read_some(std::span<uint8_t> bytes) {
  while (true) {
    if (next_ == filled_) {
      next_ = 0;
      filled_ = static_cast<size_t>(file_.read_some(buffer_));
    }
    const std::span<const uint8_t> stored = std::span(buffer_).subspan(next_, filled_ - next_);
    if (packed()) {
      if (stored.empty() && !unpacker_->inside_member) return 0;
      const auto [used, made] = unpacker_->unpack(stored, bytes, path());
      next_ += used;
      if (made > 0) return static_cast<int64_t>(made);
    } else {
      const size_t count = std::min(stored.size(), bytes.size());
      std::copy_n(stored.begin(), count, bytes.begin());
      next_ += count;
      return static_cast<int64_t>(count);
    }
  }
}

std::vector<uint8_t> PackedFile::read(int64_t count, std::string_view what) {
  std::vector<uint8_t> bytes;
  int64_t filled = 0;
  while (filled < count) {
    const int64_t room = std::min(count, (filled / growth_bytes + 1) * growth_bytes);
    bytes.resize(static_cast<size_t>(room));
    const int64_t got = read_some(std::span(bytes).subspan(static_cast<size_t>(filled)));
    if (got == 0) {
      throw Error(Fault::input, fmt::format("the file ends inside {}: {} bytes of {} are there", what, filled, count),
                  where(offset_), "copy the file again");
    }
    filled += got;
    offset_ += got;
  }
  return bytes;
}

void PackedFile::expect_end() {
  uint8_t byte = 0;
  if (read_some(std::span(&byte, 1)) == 0) return;
  throw Error(Fault::input, "the file goes on after the last byte that its header announces", where(offset_));
}

}  // namespace gpusizer
