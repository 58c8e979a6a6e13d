// SPDX-License-Identifier: Apache-2.0
// Persistent tensors of a program as plain numbers, by name: what is read from one executor and written to another.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gpusizer {

using TensorValues = std::map<std::string, std::vector<float>, std::less<>>;  // row-major

// Throws Error(usage) for a tensor that is not there.
const std::vector<float>& values_of(const TensorValues& values, std::string_view name);

}  // namespace gpusizer
