// SPDX-License-Identifier: Apache-2.0
// What processes say when they meet. Everything lies as in memory: ranks of one run are the same kind of machine.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include "workloads/backend/communicator/socket.hpp"

namespace gpusizer {

inline constexpr std::array<char, 8> greeting_magic{'g', 'p', 'u', 's', 'i', 'z', 'e', 'r'};
inline constexpr uint32_t greeting_version = 2;  // changes with anything that goes over a connection

// The first bytes of every connection, from the one who connects.
struct Hello {
  std::array<char, 8> magic = greeting_magic;
  uint32_t version = greeting_version;
  int32_t rank = 0, size = 0;
  int32_t connection = 0;  // which of the peer's connections this is
  uint64_t token = 0;      // what rank 0 said; 0: to rank 0 itself, at first
  int32_t port = 0;        // where the rank listens, at first
  char run[52] = {};

  bool is_ours() const { return magic == greeting_magic && version == greeting_version; }
  std::string run_name() const { return {run, ::strnlen(run, sizeof run)}; }
  void set_run(std::string_view name) { std::memcpy(run, name.data(), std::min(name.size(), sizeof run)); }
};
static_assert(sizeof(Hello) == 88 && std::is_trivially_copyable_v<Hello>);

// Rank 0's answer: the places of all ranks follow, or a reason.
struct Answer {
  std::array<char, 8> magic = greeting_magic;
  uint32_t version = greeting_version;
  uint32_t accepted = 0;
  uint64_t token = 0;
  uint64_t bytes = 0;  // that follow
};
static_assert(sizeof(Answer) == 32 && std::is_trivially_copyable_v<Answer>);

// Where a rank listens.
struct RankAddress {
  Address address;
  uint32_t beside_rank_0 = 0;  // on rank 0's machine: reached as rank 0 is
};
static_assert(std::is_trivially_copyable_v<RankAddress>);

}  // namespace gpusizer
