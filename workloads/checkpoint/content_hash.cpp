// SPDX-License-Identifier: Apache-2.0
// XXH64: four lanes over stripes of 32 bytes, merged at the end. Little-endian machines only, as the rest of gpusizer.
#include "workloads/checkpoint/content_hash.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

namespace gpusizer {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::uint64_t prime1 = 0x9E3779B185EBCA87u, prime2 = 0xC2B2AE3D27D4EB4Fu, prime3 = 0x165667B19E3779F9u,
                        prime4 = 0x85EBCA77C2B2AE63u, prime5 = 0x27D4EB2F165667C5u;
constexpr std::size_t stripe_bytes = 32;

template <class Word>
std::uint64_t word(const char* bytes) {
  Word value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

std::uint64_t round(std::uint64_t lane, std::uint64_t input) { return std::rotl(lane + input * prime2, 31) * prime1; }

std::uint64_t merge(std::uint64_t hash, std::uint64_t lane) { return (hash ^ round(0, lane)) * prime1 + prime4; }

std::uint64_t avalanche(std::uint64_t hash) {
  hash = (hash ^ (hash >> 33u)) * prime2;
  hash = (hash ^ (hash >> 29u)) * prime3;
  return hash ^ (hash >> 32u);
}

}  // namespace

void ContentHash::stripe(const char* bytes) {
  for (std::size_t lane = 0; lane < 4; ++lane)
    lanes_[lane] = round(lanes_[lane], word<std::uint64_t>(bytes + 8 * lane));
}

void ContentHash::add(std::string_view bytes) {
  total_bytes_ += bytes.size();
  if (rest_bytes_ > 0) {
    const std::size_t taken = std::min(bytes.size(), stripe_bytes - rest_bytes_);
    std::copy_n(bytes.data(), taken, rest_.data() + rest_bytes_);
    rest_bytes_ += taken;
    bytes.remove_prefix(taken);
    if (rest_bytes_ < stripe_bytes) return;
    stripe(rest_.data());
    rest_bytes_ = 0;
  }
  for (; bytes.size() >= stripe_bytes; bytes.remove_prefix(stripe_bytes)) stripe(bytes.data());
  rest_bytes_ = bytes.copy(rest_.data(), bytes.size());
}

std::uint64_t ContentHash::value() const {
  std::uint64_t hash = prime5;
  if (total_bytes_ >= stripe_bytes) {
    hash = std::rotl(lanes_[0], 1) + std::rotl(lanes_[1], 7) + std::rotl(lanes_[2], 12) + std::rotl(lanes_[3], 18);
    for (const std::uint64_t lane : lanes_) hash = merge(hash, lane);
  }
  hash += total_bytes_;
  const char* next = rest_.data();
  const char* end = next + rest_bytes_;
  for (; end - next >= 8; next += 8) hash = std::rotl(hash ^ round(0, word<std::uint64_t>(next)), 27) * prime1 + prime4;
  if (end - next >= 4) {
    hash = std::rotl(hash ^ (word<std::uint32_t>(next) * prime1), 23) * prime2 + prime3;
    next += 4;
  }
  for (; next < end; ++next) hash = std::rotl(hash ^ (word<std::uint8_t>(next) * prime5), 11) * prime1;
  return avalanche(hash);
}

std::string ContentHash::text() const { return fmt::format("{:016x}", value()); }

}  // namespace gpusizer
