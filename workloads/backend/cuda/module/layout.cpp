// SPDX-License-Identifier: Apache-2.0
// Element types and bytes of tensors.
#include "workloads/backend/cuda/module/layout.hpp"

#include <fmt/format.h>

#include "gpusizer/error.hpp"

namespace gpusizer::cuda {

Element element_of(const Tensor& t) {
  switch (t.dtype) {
    case DType::f32: return Element::f32;
    case DType::f16: return Element::f16;
    case DType::bf16: return Element::bf16;
    case DType::tf32: return Element::tf32;
    default: throw Error(Fault::failed, fmt::format("'{}' is {}, which CUDA kernels do not read as numbers", t.name, to_string(t.dtype)));
  }
}

int64_t stored_bytes(const Tensor& t) { return element_count(t.shape) * element_bytes(t.dtype); }

ImageShape image_shape(const Shape& shape) { return {shape[0], shape[1], shape[2] * shape[3]}; }

}  // namespace gpusizer::cuda
