// SPDX-License-Identifier: Apache-2.0
// Reads IDX files and believes no length in them before it was held against the file.
#include "workloads/data/idx_files.hpp"

#include <fmt/format.h>

#include "gpusizer/error.hpp"
#include "workloads/data/packed_file.hpp"

namespace gpusizer {

namespace {

constexpr int64_t length_bytes = 4;
constexpr uint8_t unsigned_byte = 8;

[[noreturn]] void refuse(const PackedFile& file, int64_t offset, const std::string& what) {
  throw Error(Fault::input, what, file.where(offset), "this reads IDX files of unsigned bytes, plain or .gz");
}

void read_magic(PackedFile& file, int dimensions) {
  const std::vector<uint8_t> magic = file.read(4, "the IDX magic number");
  if (magic[0] == 0 && magic[1] == 0 && magic[2] == unsigned_byte && magic[3] == dimensions) return;
  refuse(file, 0,
         fmt::format("the file begins with {:02x}{:02x}{:02x}{:02x}, an IDX file of {} with 000008{:02x}", magic[0],
                     magic[1], magic[2], magic[3], dimensions == 1 ? "labels" : "images", dimensions));
}

int64_t read_length(PackedFile& file, std::string_view what) {
  const int64_t offset = file.offset();
  const std::vector<uint8_t> bytes = file.read(length_bytes, "the IDX header");
  int64_t length = 0;
  for (const uint8_t byte : bytes) length = length * 256 + byte;
  if (length == 0) refuse(file, offset, fmt::format("the header announces a {} of 0", what));
  return length;
}

// Refuses before anything is allocated; the product of three 32-bit numbers needs more than 64 bits, hence the
// division.
void check_fits(const PackedFile& file, int64_t count, int64_t bytes_each) {
  const int64_t most = file.most_bytes() - file.offset();
  if (count > most / bytes_each || count * bytes_each > most_memory_bytes()) {
    refuse(file, length_bytes,
           fmt::format("the header announces {} items of {} bytes, more than the file can hold or "
                       "this machine keep in memory",
                       count, bytes_each));
  }
}

}  // namespace

IdxImages read_idx_images(const std::filesystem::path& path) {
  PackedFile file(path);
  read_magic(file, 3);
  IdxImages images{file.path(), 0, 0, 0, {}};
  images.count = read_length(file, "count");
  images.height = read_length(file, "height");
  images.width = read_length(file, "width");
  constexpr int64_t largest_side = 4096;
  if (images.height > largest_side || images.width > largest_side) {
    refuse(file, 8,
           fmt::format("the header announces images of {}x{}, more than 4096 a side", images.height, images.width));
  }
  check_fits(file, images.count, images.height * images.width);
  images.pixels = file.read(images.count * images.height * images.width, "the pixels");
  file.expect_end();
  return images;
}

IdxLabels read_idx_labels(const std::filesystem::path& path) {
  PackedFile file(path);
  read_magic(file, 1);
  const int64_t count = read_length(file, "count");
  check_fits(file, count, 1);
  IdxLabels labels{file.path(), file.read(count, "the labels")};
  file.expect_end();
  return labels;
}

}  // namespace gpusizer
