// SPDX-License-Identifier: Apache-2.0
// The header first, with zeros for the checksum that is known only after the data.
#include "workloads/checkpoint/safetensors_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "gpusizer/error.hpp"

namespace gpusizer {
namespace {

constexpr std::string_view unknown_digits = "0000000000000000";

SafetensorsHeader with_checksum(std::vector<StoredTensor> tensors, FileWords words) {
  words[std::string(checksum_word)] = std::string(checksum_kind) + std::string(unknown_digits);
  return {std::move(tensors), std::move(words)};
}

std::string little_endian(std::uint64_t value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

}  // namespace

SafetensorsWriter::SafetensorsWriter(const std::filesystem::path& path, std::vector<StoredTensor> tensors,
                                     FileWords words)
    : header_(with_checksum(std::move(tensors), std::move(words))),
      text_(header_text(header_)),
      file_(path),
      hash_(begin_checksum(header_)) {
  file_.append(little_endian(text_.size()));
  file_.append(text_);
}

template <class T>
void SafetensorsWriter::append_as(StoredType type, std::span<const T> values) {
  const bool more = next_ < header_.tensors.size();
  if (!more || header_.tensors[next_].type != type ||
      *byte_count(header_.tensors[next_]) != static_cast<std::int64_t>(values.size_bytes()))
    throw Error(Fault::usage,
                fmt::format("{} values of {} do not fit {}", values.size(), to_string(type),
                            more ? fmt::format("tensor '{}'", header_.tensors[next_].name) : "behind the last tensor"));
  const std::string_view bytes(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  hash_.add(bytes);
  file_.append(bytes);
  ++next_;
}

void SafetensorsWriter::append(std::span<const float> values) { append_as(StoredType::f32, values); }
void SafetensorsWriter::append(std::span<const double> values) { append_as(StoredType::f64, values); }
void SafetensorsWriter::append(std::span<const std::int32_t> values) { append_as(StoredType::i32, values); }
void SafetensorsWriter::append(std::span<const std::int64_t> values) { append_as(StoredType::i64, values); }

std::int64_t SafetensorsWriter::finish() {
  if (next_ != header_.tensors.size())
    throw Error(Fault::usage, fmt::format("tensor '{}' was not written", header_.tensors[next_].name));
  header_.words[std::string(checksum_word)] = std::string(checksum_kind) + hash_.text();
  file_.overwrite(length_bytes, header_text(header_));
  file_.finish();
  return file_.bytes();
}

}  // namespace gpusizer
