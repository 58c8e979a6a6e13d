// SPDX-License-Identifier: Apache-2.0
// Header, checksum, tensors: read with POSIX calls, in pieces.
#include "workloads/checkpoint/safetensors_reader.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "gpusizer/error.hpp"
#include "workloads/checkpoint/half_floats.hpp"

namespace gpusizer {
namespace {

constexpr std::int64_t piece_bytes = 1 << 20;

template <class T>
constexpr auto as_it_is = [](T value) { return value; };

}  // namespace

SafetensorsReader::SafetensorsReader(std::filesystem::path path) : path_(std::move(path)) {
  try {
    open();
    read_header();
    check_data();
  } catch (...) {
    if (descriptor_ >= 0) ::close(descriptor_);  // after a constructor's failure no destructor runs
    throw;
  }
}

SafetensorsReader::~SafetensorsReader() { ::close(descriptor_); }

void SafetensorsReader::refuse(const std::string& what) const {
  throw Error(Fault::input, "this is no intact safetensors file: " + what, path_.string(), "use another file");
}

void SafetensorsReader::open() {
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a pipe without a writer must not hang it
  struct stat status {};
  if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0)
    throw Error(Fault::input, "cannot read the file: " + std::generic_category().message(errno), path_.string());
  if (!S_ISREG(status.st_mode)) refuse("it is not a regular file");
  bytes_ = status.st_size;
}

void SafetensorsReader::read_header() {
  if (bytes_ < length_bytes) refuse(fmt::format("its {} bytes are too few to hold the header's length", bytes_));
  std::uint64_t length = 0;
  read_at(0, {reinterpret_cast<char*>(&length), sizeof length});
  if (length > static_cast<std::uint64_t>(bytes_ - length_bytes))
    refuse(fmt::format("it announces a header of {} bytes and has {} behind it, so it is cut off or something else",
                       length, bytes_ - length_bytes));
  if (length > static_cast<std::uint64_t>(most_header_bytes))
    refuse(fmt::format("it announces a header of {} bytes, more than the 100 MB that are allowed", length));
  std::string text(length, '\0');
  read_at(length_bytes, text);
  if (text.empty() || text.front() != '{') refuse("its header does not begin with '{'");
  data_begin_ = length_bytes + static_cast<std::int64_t>(length);
  header_ = parse_header(text, bytes_ - data_begin_, path_.string());
  std::int64_t offset = data_begin_;
  for (const StoredTensor& tensor : header_.tensors) {
    offsets_.push_back(offset);
    offset += *byte_count(tensor);
  }
}

void SafetensorsReader::check_data() const {
  if (!has_checksum()) return;
  ContentHash hash = begin_checksum(header_);
  std::string piece;
  for (std::int64_t at = data_begin_; at < bytes_; at += piece_bytes) {
    piece.resize(static_cast<std::size_t>(std::min(piece_bytes, bytes_ - at)));
    read_at(at, piece);
    hash.add(piece);
  }
  const std::string& expected = header_.words.at(std::string(checksum_word));
  if (!expected.starts_with(checksum_kind)) refuse(fmt::format("its checksum '{}' is of an unknown kind", expected));
  if (expected.substr(checksum_kind.size()) != hash.text())
    refuse("its checksum is wrong, so something in it was changed");
}

void SafetensorsReader::read_at(std::int64_t offset, std::span<char> bytes) const {
  while (!bytes.empty()) {
    const ::ssize_t got = ::pread(descriptor_, bytes.data(), bytes.size(), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      throw Error(Fault::input, "cannot read the file: " + std::generic_category().message(errno), path_.string());
    if (got == 0) refuse("it became shorter while it was read");
    bytes = bytes.subspan(static_cast<std::size_t>(got));
    offset += got;
  }
}

const StoredTensor* SafetensorsReader::find(std::string_view name) const {
  const auto found = std::find_if(header_.tensors.begin(), header_.tensors.end(),
                                  [&](const StoredTensor& tensor) { return tensor.name == name; });
  return found == header_.tensors.end() ? nullptr : &*found;
}

std::size_t SafetensorsReader::require(std::string_view name, std::size_t elements) const {
  const StoredTensor* tensor = find(name);
  if (!tensor) throw Error(Fault::input, fmt::format("the file has no tensor '{}'", name), path_.string());
  if (element_count(tensor->shape) != static_cast<std::int64_t>(elements))
    throw Error(Fault::input,
                fmt::format("tensor '{}' is {}, and {} elements are needed", name, to_string(tensor->shape), elements),
                path_.string());
  return static_cast<std::size_t>(tensor - header_.tensors.data());
}

template <class Stored, class T, class Widen>
void SafetensorsReader::read_as(std::size_t index, std::span<T> values, Widen widen) const {
  std::vector<Stored> piece(std::min<std::size_t>(values.size(), piece_bytes / sizeof(Stored)));
  std::int64_t offset = offsets_[index];
  for (std::size_t done = 0; done < values.size();) {
    const std::size_t now = std::min(piece.size(), values.size() - done);
    read_at(offset, {reinterpret_cast<char*>(piece.data()), now * sizeof(Stored)});
    std::transform(piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(now),
                   values.begin() + static_cast<std::ptrdiff_t>(done),
                   [&](Stored value) { return static_cast<T>(widen(value)); });
    done += now;
    offset += static_cast<std::int64_t>(now * sizeof(Stored));
  }
}

void SafetensorsReader::read(std::string_view name, std::span<float> values) const {
  const std::size_t index = require(name, values.size());
  switch (header_.tensors[index].type) {
    case StoredType::f32:
      return read_as<float>(index, values, as_it_is<float>);
    case StoredType::f16:
      return read_as<std::uint16_t>(index, values, from_f16);
    case StoredType::bf16:
      return read_as<std::uint16_t>(index, values, from_bf16);
    default:
      break;
  }
  refuse(fmt::format("tensor '{}' is of {}, and floating-point numbers are needed", name,
                     to_string(header_.tensors[index].type)));
}

void SafetensorsReader::read(std::string_view name, std::span<double> values) const {
  const std::size_t index = require(name, values.size());
  if (header_.tensors[index].type == StoredType::f64) return read_as<double>(index, values, as_it_is<double>);
  if (header_.tensors[index].type == StoredType::f32) return read_as<float>(index, values, as_it_is<float>);
  refuse(fmt::format("tensor '{}' is of {}, and F64 is needed", name, to_string(header_.tensors[index].type)));
}

void SafetensorsReader::read(std::string_view name, std::span<std::int64_t> values) const {
  const std::size_t index = require(name, values.size());
  if (header_.tensors[index].type == StoredType::i64)
    return read_as<std::int64_t>(index, values, as_it_is<std::int64_t>);
  if (header_.tensors[index].type == StoredType::i32)
    return read_as<std::int32_t>(index, values, as_it_is<std::int32_t>);
  refuse(
      fmt::format("tensor '{}' is of {}, and whole numbers are needed", name, to_string(header_.tensors[index].type)));
}

}  // namespace gpusizer
