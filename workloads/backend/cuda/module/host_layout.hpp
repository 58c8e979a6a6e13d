// SPDX-License-Identifier: Apache-2.0
// Persistent tensors between the host's row-major f32 and the device's layout and element types.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "workloads/program/tensor.hpp"

namespace gpusizer::cuda {

std::vector<std::byte> to_device_layout(const Tensor& tensor, std::span<const float> values);
void from_device_layout(const Tensor& tensor, std::span<const std::byte> stored, std::span<float> values);

}  // namespace gpusizer::cuda
