// SPDX-License-Identifier: Apache-2.0
// Scales and rounds a weight channel by channel.
#include "workloads/transforms/quantized_weight.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gpusizer/error.hpp"

namespace gpusizer {

QuantizedWeight quantize_weight(const std::string& name, std::span<const float> weight, int64_t channels) {
  constexpr double steps = 127, least = 1e-30;  // smaller scales would leave the range of f32
  QuantizedWeight result;
  result.integers.resize(weight.size());
  const size_t each = weight.size() / static_cast<size_t>(channels);
  for (size_t first = 0; first < weight.size(); first += each) {
    double largest = 0;
    for (const float w : weight.subspan(first, each)) {
      if (!std::isfinite(w)) throw Error(Fault::input, fmt::format("'{}' has a value that is not finite", name));
      largest = std::max(largest, std::abs(double{w}));
    }
    const double scale = largest > 0 ? std::max(largest / steps, least) : 1;
    result.scales.push_back(scale);
    for (size_t i = first; i < first + each; ++i)
      result.integers[i] = static_cast<float>(std::nearbyint(weight[i] / scale));
  }
  return result;
}

}  // namespace gpusizer
