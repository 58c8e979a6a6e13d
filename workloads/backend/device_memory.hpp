// SPDX-License-Identifier: Apache-2.0
// The fault of a device whose memory does not suffice: the case's status becomes `oom`, and the next case runs.
#pragma once

#include <cstdint>
#include <string>

#include "gpusizer/error.hpp"

namespace gpusizer {

class OutOfDeviceMemory : public Error {
 public:
  // Bytes; -1 where nobody knows.
  OutOfDeviceMemory(std::string what, std::string where, int64_t needed_bytes, int64_t free_bytes)
      : Error(Fault::failed, std::move(what), std::move(where), "use a smaller batch"),
        needed_bytes_(needed_bytes), free_bytes_(free_bytes) {}

  int64_t needed_bytes() const noexcept { return needed_bytes_; }
  int64_t free_bytes() const noexcept { return free_bytes_; }

 private:
  int64_t needed_bytes_, free_bytes_;
};

}  // namespace gpusizer
