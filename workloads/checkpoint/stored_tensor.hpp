// SPDX-License-Identifier: Apache-2.0
// What a safetensors file says of one tensor: name, element type, shape.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/program/tensor.hpp"

namespace gpusizer {

// Every element type of the format. All are recognised; see SafetensorsReader for those that can be read.
enum class StoredType : std::uint8_t {
  boolean,
  u8,
  i8,
  f8_e5m2,
  f8_e4m3,
  i16,
  u16,
  f16,
  bf16,
  i32,
  u32,
  f32,
  i64,
  u64,
  f64
};

std::string_view to_string(StoredType type);  // "F32"
std::int64_t element_bytes(StoredType type);
std::optional<StoredType> stored_type(std::string_view name);

struct StoredTensor {
  std::string name;
  StoredType type = StoredType::f32;
  Shape shape;

  friend bool operator==(const StoredTensor&, const StoredTensor&) = default;
};

// Elements x bytes of one; nothing when a dimension is negative or the product passes 2^63 - 1.
std::optional<std::int64_t> byte_count(const StoredTensor& tensor);

// What a file says beside its tensors.
using FileWords = std::map<std::string, std::string>;

}  // namespace gpusizer
