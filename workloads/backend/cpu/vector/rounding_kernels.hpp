// SPDX-License-Identifier: Apache-2.0
// Vector kernels that round floats to shorter types; the same results, bit for bit, as program/rounding.hpp.
#pragma once

#include <cstdint>

namespace gpusizer::cpu {

// `to` may be `from`.
using RoundKernel = void (*)(const float* from, float* to, int64_t count);

struct RoundKernels {
  RoundKernel none, f16, bf16, tf32;
};

}  // namespace gpusizer::cpu
