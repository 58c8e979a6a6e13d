// SPDX-License-Identifier: Apache-2.0
// Reads a safetensors file that may be damaged or foreign.
#pragma once

#include <filesystem>
#include <span>

#include "workloads/checkpoint/safetensors_header.hpp"

namespace gpusizer {

// Every fault throws Error(input) that names the file and what is wrong.
class SafetensorsReader {
 public:
  // Checks the whole header, and the data too where the file holds a checksum of ours (see has_checksum()).
  explicit SafetensorsReader(std::filesystem::path path);
  ~SafetensorsReader();
  SafetensorsReader(const SafetensorsReader&) = delete;
  SafetensorsReader& operator=(const SafetensorsReader&) = delete;

  const std::vector<StoredTensor>& tensors() const { return header_.tensors; }  // in the order of their data
  const FileWords& words() const { return header_.words; }
  bool has_checksum() const { return header_.words.contains(std::string(checksum_word)); }
  const StoredTensor* find(std::string_view name) const;  // nullptr: there is none
  const std::filesystem::path& path() const { return path_; }
  std::int64_t bytes() const { return bytes_; }

  // Row-major. The tensor must be there with exactly as many elements, and of a fitting type: F32, F16 and BF16 as
  // floats, F32 and F64 as doubles, I32 and I64 as integers.
  void read(std::string_view name, std::span<float> values) const;
  void read(std::string_view name, std::span<double> values) const;
  void read(std::string_view name, std::span<std::int64_t> values) const;

 private:
  [[noreturn]] void refuse(const std::string& what) const;
  void open();
  void read_header();
  void check_data() const;
  void read_at(std::int64_t offset, std::span<char> bytes) const;
  template <class Stored, class T, class Widen>
  void read_as(std::size_t index, std::span<T> values, Widen widen) const;
  std::size_t require(std::string_view name, std::size_t elements) const;

  std::filesystem::path path_;
  int descriptor_ = -1;
  std::int64_t bytes_ = 0, data_begin_ = 0;
  SafetensorsHeader header_;
  std::vector<std::int64_t> offsets_;  // of each tensor in the file
};

}  // namespace gpusizer
