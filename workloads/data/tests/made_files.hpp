// SPDX-License-Identifier: Apache-2.0
// Files that the tests make: a temporary folder, IDX and .gz bytes, JPEGs encoded with libjpeg; and what an error says.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <jpeglib.h>

#include "gpusizer/error.hpp"

namespace gpusizer::made {

using Bytes = std::vector<uint8_t>;

class TempFolder {
 public:
  TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "gpusizer_data_XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = pattern;
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string text() const { return path_.string(); }

  // Writes path()/name, making its folders.
  std::filesystem::path write(const std::string& name, const Bytes& bytes) const {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return file;
  }

 private:
  std::filesystem::path path_;
};

inline Bytes gzip(const Bytes& bytes) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  Bytes packed(deflateBound(&stream, bytes.size()) + 32);
  stream.next_in = const_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = packed.data();
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

inline void append_big_endian(Bytes& bytes, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<uint8_t>(value >> shift));
}

inline Bytes idx(const std::vector<uint32_t>& lengths, const Bytes& values) {
  Bytes bytes{0, 0, 8, static_cast<uint8_t>(lengths.size())};
  for (const uint32_t length : lengths) append_big_endian(bytes, length);
  bytes.insert(bytes.end(), values.begin(), values.end());
  return bytes;
}

// Pixels image by image: the first pixel of image i is i, the rest count up from there.
inline Bytes counting_pixels(int images, int pixels_each) {
  Bytes bytes;
  for (int i = 0; i < images; ++i) {
    for (int pixel = 0; pixel < pixels_each; ++pixel) bytes.push_back(static_cast<uint8_t>(i + pixel));
  }
  return bytes;
}

struct Jpeg {
  int width = 0, height = 0, components = 3;
  J_COLOR_SPACE colours = JCS_RGB;
  bool progressive = false;
};

// Encodes interleaved `pixels` at the best quality, without subsampling of colour.
inline Bytes encode_jpeg(const Jpeg& jpeg, const Bytes& pixels) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &memory, &size);
  info.image_width = static_cast<JDIMENSION>(jpeg.width);
  info.image_height = static_cast<JDIMENSION>(jpeg.height);
  info.input_components = jpeg.components;
  info.in_color_space = jpeg.colours;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, 100, TRUE);
  for (int i = 0; i < jpeg.components; ++i) info.comp_info[i].h_samp_factor = info.comp_info[i].v_samp_factor = 1;
  if (jpeg.progressive) jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  while (info.next_scanline < info.image_height) {
    JSAMPROW row = const_cast<JSAMPROW>(pixels.data()) +
                   static_cast<size_t>(info.next_scanline) * static_cast<size_t>(jpeg.width * jpeg.components);
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  Bytes bytes(memory, memory + size);
  jpeg_destroy_compress(&info);
  std::free(memory);
  return bytes;
}

// All pixels of one colour, given by its components.
inline Bytes plain_jpeg(int width, int height, const Bytes& colour, Jpeg jpeg = {}) {
  jpeg.width = width;
  jpeg.height = height;
  jpeg.components = static_cast<int>(colour.size());
  Bytes pixels;
  for (int i = 0; i < width * height; ++i) pixels.insert(pixels.end(), colour.begin(), colour.end());
  return encode_jpeg(jpeg, pixels);
}

// Something in every block: a picture that cannot be packed into a few bytes.
inline Bytes busy_jpeg(int width, int height, Jpeg jpeg = {}) {
  jpeg.width = width;
  jpeg.height = height;
  Bytes pixels;
  uint32_t state = 1;
  for (int i = 0; i < width * height * jpeg.components; ++i) {
    state = state * 1664525 + 1013904223;
    pixels.push_back(static_cast<uint8_t>(state >> 24));
  }
  return encode_jpeg(jpeg, pixels);
}

// What `action` throws, as an Error; fails the test when it throws none.
template <typename Action>
Error caught(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no Error was thrown";
  return Error(Fault::failed, "nothing was thrown");
}

// The error has this fault, and its sentence holds every one of `parts`.
inline void expect_says(const Error& error, Fault fault, const std::vector<std::string>& parts) {
  EXPECT_EQ(error.exit_code(), static_cast<int>(fault)) << error.what();
  for (const std::string& part : parts) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
        << "`" << part << "` is not in: " << error.what();
  }
}

}  // namespace gpusizer::made
