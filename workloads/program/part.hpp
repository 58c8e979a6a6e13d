// SPDX-License-Identifier: Apache-2.0
// Cutting a rank's part out of a whole tensor, and putting it back.
#pragma once

#include <span>
#include <vector>

#include "workloads/program/tensor.hpp"

namespace gpusizer {

// The shape of the part. Throws Error(usage) where the whole cannot be cut so.
Shape part_shape(const Part& part);
// Row-major values of the part out of those of the whole.
std::vector<float> cut(const Part& part, std::span<const float> whole);
// Writes the part's values where they belong in the whole.
void paste(const Part& part, std::span<const float> values, std::span<float> whole);

}  // namespace gpusizer
