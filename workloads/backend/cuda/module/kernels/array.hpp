// SPDX-License-Identifier: Apache-2.0
// An array in device memory as kernels are given it: where it is and how wide its elements are.
#pragma once

#include <cstdint>

namespace gpusizer::cuda {

// tf32: four bytes, rounded to ten bits of mantissa when written.
enum class Element : uint8_t { f32, f16, bf16, tf32 };

constexpr int64_t bytes_of(Element element) { return element == Element::f16 || element == Element::bf16 ? 2 : 4; }

// Rows begin at multiples of 16 bytes wherever kernels read eight elements at once; the arena aligns the first one.
struct Array {
  void* data = nullptr;
  Element element = Element::f32;
};

}  // namespace gpusizer::cuda
