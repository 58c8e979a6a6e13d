// SPDX-License-Identifier: Apache-2.0
// Names and sizes of shapes, element types and roles.
#include "workloads/program/tensor.hpp"

#include <fmt/ranges.h>

#include <functional>
#include <numeric>

namespace gpusizer {

int64_t element_count(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

std::string to_string(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

std::string_view to_string(DType dtype) {
  switch (dtype) {
    case DType::f32: return "f32";
    case DType::f16: return "f16";
    case DType::bf16: return "bf16";
    case DType::tf32: return "tf32";
    case DType::i32: return "i32";
    case DType::i8: return "i8";
    case DType::u8: return "u8";
    case DType::opaque: return "opaque";
  }
  return "?";
}

int64_t element_bytes(DType dtype) {
  switch (dtype) {
    case DType::f32:
    case DType::tf32:
    case DType::i32: return 4;
    case DType::f16:
    case DType::bf16: return 2;
    case DType::i8:
    case DType::u8: return 1;
    case DType::opaque: return 0;
  }
  return 0;
}

std::string_view to_string(Role role) {
  switch (role) {
    case Role::input: return "input";
    case Role::scalar: return "scalar";
    case Role::parameter: return "parameter";
    case Role::state: return "state";
    case Role::optimizer_state: return "optimizer_state";
    case Role::activation: return "activation";
    case Role::saved: return "saved";
    case Role::gradient: return "gradient";
  }
  return "?";
}

bool is_persistent(Role role) {
  return role == Role::parameter || role == Role::state || role == Role::optimizer_state || role == Role::scalar;
}

}  // namespace gpusizer
