// SPDX-License-Identifier: Apache-2.0
// A fast 64-bit hash that tells a changed bit in a large file.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gpusizer {

// XXH64 with seed 0, as published in the xxHash specification (github.com/Cyan4973/xxHash, doc/xxhash_spec.md), fed
// piece by piece. Against accidents, not against an attacker.
class ContentHash {
 public:
  void add(std::string_view bytes);
  std::uint64_t value() const;  // of what was added so far
  std::string text() const;     // the value as 16 hexadecimal digits

 private:
  void stripe(const char* bytes);

  std::array<std::uint64_t, 4> lanes_{0x60EA27EEADC0B5D6u, 0xC2B2AE3D27D4EB4Fu, 0, 0x61C8864E7A143579u};
  std::array<char, 32> rest_{};  // bytes that do not fill a stripe yet
  std::size_t rest_bytes_ = 0;
  std::uint64_t total_bytes_ = 0;
};

}  // namespace gpusizer
