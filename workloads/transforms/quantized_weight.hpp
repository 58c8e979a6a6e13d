// SPDX-License-Identifier: Apache-2.0
// One weight as integers with a scale for each output channel.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gpusizer {

struct QuantizedWeight {
  std::vector<float> integers;  // whole numbers from -127 to 127
  std::vector<double> scales;   // by channel: the weight is about scale times integer
};

// `weight` is row-major with the channels outermost. A channel of zeros has the scale 1. Throws Error(input) naming the
// weight where a value is not finite.
QuantizedWeight quantize_weight(const std::string& name, std::span<const float> weight, int64_t channels);

}  // namespace gpusizer
