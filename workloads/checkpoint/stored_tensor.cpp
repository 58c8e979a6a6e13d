// SPDX-License-Identifier: Apache-2.0
// The table of element types.
#include "workloads/checkpoint/stored_tensor.hpp"

#include <array>

namespace gpusizer {
namespace {

struct TypeRow {
  StoredType type;
  std::string_view name;
  std::int64_t bytes;
};

// In the order of the enum.
constexpr std::array<TypeRow, 15> types{{{StoredType::boolean, "BOOL", 1},
                                         {StoredType::u8, "U8", 1},
                                         {StoredType::i8, "I8", 1},
                                         {StoredType::f8_e5m2, "F8_E5M2", 1},
                                         {StoredType::f8_e4m3, "F8_E4M3", 1},
                                         {StoredType::i16, "I16", 2},
                                         {StoredType::u16, "U16", 2},
                                         {StoredType::f16, "F16", 2},
                                         {StoredType::bf16, "BF16", 2},
                                         {StoredType::i32, "I32", 4},
                                         {StoredType::u32, "U32", 4},
                                         {StoredType::f32, "F32", 4},
                                         {StoredType::i64, "I64", 8},
                                         {StoredType::u64, "U64", 8},
                                         {StoredType::f64, "F64", 8}}};

}  // namespace

std::string_view to_string(StoredType type) { return types[static_cast<std::size_t>(type)].name; }

std::int64_t element_bytes(StoredType type) { return types[static_cast<std::size_t>(type)].bytes; }

std::optional<StoredType> stored_type(std::string_view name) {
  for (const TypeRow& row : types)
    if (row.name == name) return row.type;
  return std::nullopt;
}

std::optional<std::int64_t> byte_count(const StoredTensor& tensor) {
  std::int64_t bytes = element_bytes(tensor.type);
  for (const std::int64_t size : tensor.shape)
    if (size < 0 || __builtin_mul_overflow(bytes, size, &bytes)) return std::nullopt;
  return bytes;
}

}  // namespace gpusizer
