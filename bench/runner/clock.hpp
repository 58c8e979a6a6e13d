// SPDX-License-Identifier: Apache-2.0
// The clock of the measuring loop, behind an interface so that the loop can be tested without waiting.
#pragma once

#include <chrono>

namespace gpusizer {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual double seconds() = 0;  // since some fixed moment; never goes back
};

class MonotonicClock final : public Clock {
 public:
  double seconds() override {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
};

}  // namespace gpusizer
