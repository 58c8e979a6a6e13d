// SPDX-License-Identifier: Apache-2.0
// Writes a safetensors file one tensor after another.
#pragma once

#include <filesystem>
#include <span>

#include "workloads/checkpoint/replaced_file.hpp"
#include "workloads/checkpoint/safetensors_header.hpp"

namespace gpusizer {

// Holds no tensor; the file appears, complete and checksummed, with finish(). Throws as ReplacedFile and header_text()
// do.
class SafetensorsWriter {
 public:
  // All tensors in the order in which they will be appended. Put those with 8-byte elements first: readers that map the
  // file want each element aligned.
  SafetensorsWriter(const std::filesystem::path& path, std::vector<StoredTensor> tensors, FileWords words);

  // The next tensor, row-major, in its own type. Throws Error(usage) when type or number of elements is another.
  void append(std::span<const float> values);
  void append(std::span<const double> values);
  void append(std::span<const std::int32_t> values);
  void append(std::span<const std::int64_t> values);

  // After the last tensor. Returns the file's bytes.
  std::int64_t finish();

 private:
  template <class T>
  void append_as(StoredType type, std::span<const T> values);

  SafetensorsHeader header_;
  std::string text_;
  ReplacedFile file_;
  ContentHash hash_;
  std::size_t next_ = 0;
};

}  // namespace gpusizer
