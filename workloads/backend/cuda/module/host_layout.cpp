// SPDX-License-Identifier: Apache-2.0
// Where each element of a tensor lies on the device, and in which bits.
#include "workloads/backend/cuda/module/host_layout.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <fmt/format.h>

#include <cstring>

#include "gpusizer/error.hpp"
#include "workloads/backend/cuda/module/layout.hpp"
#include "workloads/program/rounding.hpp"

namespace gpusizer::cuda {

namespace {

// Calls visit(element of the row-major tensor, its place on the device).
template <class Visit>
void for_each_place(const Tensor& t, Visit visit) {
  const auto count = static_cast<size_t>(element_count(t.shape));
  if (!is_channels_last(t)) {
    for (size_t i = 0; i < count; ++i) visit(i, i);
    return;
  }
  const ImageShape s = image_shape(t.shape);
  size_t i = 0;
  for (int64_t n = 0; n < s.outer; ++n)
    for (int64_t c = 0; c < s.channels; ++c)
      for (int64_t p = 0; p < s.pixels; ++p) visit(i++, static_cast<size_t>((n * s.pixels + p) * s.channels + c));
}

template <class Stored>
void put(std::vector<std::byte>& to, size_t place, Stored value) {
  std::memcpy(to.data() + place * sizeof value, &value, sizeof value);
}

template <class Stored>
Stored get(std::span<const std::byte> from, size_t place) {
  Stored value;
  std::memcpy(static_cast<void*>(&value), from.data() + place * sizeof value, sizeof value);
  return value;
}

[[noreturn]] void refuse(const Tensor& t) {
  throw Error(Fault::failed, fmt::format("'{}' is {} and cannot be kept on a CUDA device", t.name, to_string(t.dtype)));
}

}  // namespace

std::vector<std::byte> to_device_layout(const Tensor& t, std::span<const float> values) {
  std::vector<std::byte> stored(static_cast<size_t>(stored_bytes(t)));
  for_each_place(t, [&](size_t i, size_t place) {
    switch (t.dtype) {
      case DType::f32: return put(stored, place, values[i]);
      case DType::tf32: return put(stored, place, round_to(DType::tf32, values[i]));
      case DType::f16: return put(stored, place, __float2half_rn(values[i]));
      case DType::bf16: return put(stored, place, __float2bfloat16_rn(values[i]));
      case DType::i32: return put(stored, place, static_cast<int32_t>(values[i]));
      default: refuse(t);
    }
  });
  return stored;
}

void from_device_layout(const Tensor& t, std::span<const std::byte> stored, std::span<float> values) {
  for_each_place(t, [&](size_t i, size_t place) {
    switch (t.dtype) {
      case DType::f32:
      case DType::tf32: values[i] = get<float>(stored, place); return;
      case DType::f16: values[i] = __half2float(get<__half>(stored, place)); return;
      case DType::bf16: values[i] = __bfloat162float(get<__nv_bfloat16>(stored, place)); return;
      case DType::i32: values[i] = static_cast<float>(get<int32_t>(stored, place)); return;
      default: refuse(t);
    }
  });
}

}  // namespace gpusizer::cuda
