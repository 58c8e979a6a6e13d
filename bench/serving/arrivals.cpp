// SPDX-License-Identifier: Apache-2.0
// Exponential gaps by inversion.
#include "bench/serving/arrivals.hpp"

#include <cmath>

#include "workloads/program/initial_values.hpp"

namespace gpusizer {

double PoissonArrivals::next() {
  constexpr std::uint32_t stream = 0x61727276;  // apart from the numbers that weights are drawn from
  const auto low = [](std::uint64_t v) { return static_cast<std::uint32_t>(v); };
  const auto words = philox({low(number_), low(number_ >> 32), stream, 0}, {low(seed_), low(seed_ >> 32)});
  ++number_;
  const std::uint64_t bits = (std::uint64_t{words[0]} << 20) ^ words[1];
  const double uniform = (static_cast<double>(bits & ((std::uint64_t{1} << 52) - 1)) + 0.5) / 0x1p52;  // in (0, 1)
  last_seconds_ += -std::log(uniform) / rate_;
  return last_seconds_;
}

}  // namespace gpusizer
