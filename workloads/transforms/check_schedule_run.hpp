// SPDX-License-Identifier: Apache-2.0
// What ranks exchange in a step, and whether the step comes to its end.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "workloads/program/program.hpp"

namespace gpusizer {

struct ExchangedTensor {
  Shape shape;
  DType dtype = DType::f32;
  bool operator==(const ExchangedTensor&) const = default;
};

// One collective, send or receive of a rank.
struct Exchange {
  int32_t operation = 0;  // its index in the rank's program
  OpKind kind{};
  std::string_view name, layer{};
  int32_t rank = 0;                        // whose it is: a collective says so itself
  std::vector<int32_t> peers{}, owners{};  // a collective's ranks and owners; a message's other rank
  std::vector<ExchangedTensor> tensors{};
  int32_t delay = 0;
  size_t number = 0;  // among those of its group, or of its pair of ranks and direction, on this rank

  bool is_collective() const { return kind != OpKind::send && kind != OpKind::receive; }
  bool same_as(const Exchange& other) const {
    return kind == other.kind && peers == other.peers && owners == other.owners && delay == other.delay &&
           tensors == other.tensors;
  }
};

using ExchangeList = std::vector<const Exchange*>;

struct Exchanges {
  std::vector<std::vector<Exchange>> ranks;  // by rank, in the order of its program
  std::map<std::vector<int32_t>, std::map<int32_t, ExchangeList>> collectives{};  // by group, then rank
  std::map<std::pair<int32_t, int32_t>, std::pair<ExchangeList, ExchangeList>>
      messages{};  // by (from, to): sends, receives
};

Exchanges exchanges(std::span<const Program> ranks);

// Runs all ranks, whose exchanges must match: "" when they come to the end, otherwise who waits for whom.
std::string run_to_the_end(std::span<const Program> ranks, const Exchanges& all);

}  // namespace gpusizer
