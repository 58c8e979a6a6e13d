// SPDX-License-Identifier: Apache-2.0
// When requests arrive that do not wait for each other.
#pragma once

#include <cstdint>

namespace gpusizer {

// A Poisson process: the gaps are independent and exponentially distributed, their mean is 1 / rate. A function of the
// seed alone.
class PoissonArrivals {
 public:
  // `rate` requests per second, above 0.
  PoissonArrivals(double rate, std::uint64_t seed) : rate_(rate), seed_(seed) {}

  // Seconds from the start of the process to the next arrival; each one is later than the one before.
  double next();

 private:
  double rate_;
  std::uint64_t seed_;
  std::uint64_t number_ = 0;
  double last_seconds_ = 0;
};

}  // namespace gpusizer
