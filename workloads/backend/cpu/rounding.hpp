// SPDX-License-Identifier: Apache-2.0
// Emulated element types: f16, bf16 and tf32 lie in memory as f32 words that hold only values the shorter type has.
#pragma once

#include "workloads/backend/cpu/kernel.hpp"

namespace gpusizer::cpu {

// What rounds values to an element type; that of f32 copies.
RoundKernel round_kernel(const VectorKernels& vector, DType dtype);

// The kernel, followed by rounding those of its results that have a shorter element type; mostly the kernel itself.
std::unique_ptr<Kernel> with_rounded_results(const KernelRequest& r, std::unique_ptr<Kernel> kernel);

}  // namespace gpusizer::cpu
