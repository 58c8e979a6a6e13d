// SPDX-License-Identifier: Apache-2.0
// One block of memory for everything that an executor keeps; huge pages where the system has them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gpusizer::cpu {

class Arena {
 public:
  // Throws Error(failed) saying how much was asked for when the system refuses.
  explicit Arena(int64_t bytes);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  std::byte* data() const { return data_; }
  int64_t bytes() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  int64_t bytes_;
};

}  // namespace gpusizer::cpu
