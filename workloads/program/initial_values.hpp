// SPDX-License-Identifier: Apache-2.0
// Starting values of persistent tensors: a function of (seed, tensor name, element) and nothing else.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "workloads/program/tensor.hpp"

namespace gpusizer {

// One block of four random words of the counter-based generator Philox 4x32 with 10 rounds (Salmon et al., "Parallel
// random numbers: as easy as 1, 2, 3", SC11).
std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

// The tensor's starting values, row-major. Normal values by Box-Muller.
std::vector<float> initial_values(const Tensor& tensor, uint64_t seed);

}  // namespace gpusizer
