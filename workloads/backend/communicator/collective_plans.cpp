// SPDX-License-Identifier: Apache-2.0
// Plans collectives: who sends which bytes to whom, where they arrive, and what is added.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "workloads/backend/communicator/collectives.hpp"

namespace gpusizer {

namespace {

constexpr size_t cut_bytes = 64;  // tensors are cut between cache lines

size_t rounded_up(size_t bytes) { return (bytes + cut_bytes - 1) / cut_bytes * cut_bytes; }

size_t total_of(std::span<const size_t> tensor_bytes) {
  size_t sum = 0;
  for (const size_t bytes : tensor_bytes) sum += bytes;
  return sum;
}

// A piece of a tensor and the position (among the ranks that take part) of the rank that adds it up.
struct Piece {
  size_t position, tensor, offset, bytes;
};

// The tensors one after the other, cut into as many nearly equal shares as there are ranks.
std::vector<Piece> equal_shares(std::span<const size_t> tensor_bytes, size_t rank_count) {
  const size_t total = total_of(tensor_bytes);
  std::vector<Piece> pieces;
  size_t before = 0;
  for (size_t t = 0; t < tensor_bytes.size(); ++t) {
    size_t offset = 0;
    for (size_t p = 0; p < rank_count; ++p) {
      const size_t bound = total / rank_count * (p + 1) + total % rank_count * (p + 1) / rank_count;
      size_t end = std::clamp(bound, before, before + tensor_bytes[t]) - before;
      if (end < tensor_bytes[t]) end = std::max(offset, end / cut_bytes * cut_bytes);
      if (end > offset) pieces.push_back({p, t, offset, end - offset});
      offset = end;
    }
    before += tensor_bytes[t];
  }
  return pieces;
}

std::vector<Piece> whole_tensors(std::span<const size_t> tensor_bytes, std::span<const size_t> positions) {
  std::vector<Piece> pieces;
  for (size_t t = 0; t < tensor_bytes.size(); ++t)
    if (tensor_bytes[t] > 0) pieces.push_back({positions[t], t, 0, tensor_bytes[t]});
  return pieces;
}

// The bytes in which the rank at this position receives what the others add.
size_t staging_of(std::span<const Piece> pieces, size_t position, size_t rank_count) {
  size_t sum = 0;
  for (const Piece& piece : pieces)
    if (piece.position == position) sum += (rank_count - 1) * rounded_up(piece.bytes);
  return sum;
}

size_t packed_bytes(std::span<const size_t> tensor_bytes) {
  size_t sum = 0;
  for (const size_t bytes : tensor_bytes) sum += rounded_up(bytes);
  return sum;
}

std::vector<size_t> bytes_of(std::span<const Summand> tensors) {
  std::vector<size_t> bytes;
  for (const Summand& t : tensors) bytes.push_back(t.elements * element_bytes(t.element));
  return bytes;
}

}  // namespace

class CollectivePlan {
 public:
  CollectivePlan(Communicator& communicator, std::span<const int32_t> ranks, Channel channel = Channel::collective)
      : ranks_(ranks), run_(communicator, channel) {
    const auto own = std::ranges::find(ranks, communicator.rank());
    if (own == ranks.end() || std::ranges::adjacent_find(ranks, std::greater_equal<>{}) != ranks.end() ||
        ranks.front() < 0 || ranks.back() >= communicator.size())
      throw Error(Fault::failed, fmt::format("rank {} of {} cannot run a collective of the ranks {}",
                                             communicator.rank(), communicator.size(), fmt::join(ranks, ", ")));
    own_ = static_cast<size_t>(own - ranks.begin());
    run_.addends_of_each_ = ranks.size();
  }

  void give_staging(std::span<std::byte> staging, size_t needed) {
    if (staging.size() < needed || reinterpret_cast<uintptr_t>(staging.data()) % sizeof(double) != 0)
      throw Error(Fault::failed,
                  fmt::format("a collective needs {} aligned bytes to receive in, not {}", needed, staging.size()));
    staging_ = staging;
  }

  // Every rank sends each piece to the one that adds it up. Between two ranks they go in the order of the pieces.
  void reduce(std::span<const Piece> pieces, std::span<const Summand> tensors) {
    for_others([&](size_t q) {
      for (const Piece& piece : pieces)
        if (piece.position == q) send(run_.first_, q, addend(tensors, piece), piece.bytes);
    });
    for (const Piece& piece : pieces)
      if (piece.position == own_) add_up(piece, tensors[piece.tensor], addend(tensors, piece));
  }

  // Every rank sends the sums it has made to all others.
  void spread(std::span<const Piece> pieces, std::span<const Summand> tensors) {
    for_others([&](size_t q) {
      for (const Piece& piece : pieces) {
        std::byte* sum = static_cast<std::byte*>(tensors[piece.tensor].sum) + piece.offset;
        if (piece.position == own_) send(run_.second_, q, sum, piece.bytes);
        if (piece.position == q) receive(run_.second_, q, sum, piece.bytes);
      }
    });
  }

  // Every rank sends everything to all others in one message each, and adds everything up.
  void exchange_packed(std::span<const Summand> tensors) {
    const std::vector<size_t> bytes = bytes_of(tensors);
    const size_t packed = packed_bytes(bytes);
    const auto place_of = [&](size_t position) { return staging_.data() + position * packed; };
    size_t offset = 0;
    for (size_t t = 0; t < tensors.size(); offset += rounded_up(bytes[t++])) {
      if (bytes[t] == 0) continue;
      run_.before_.push_back({static_cast<const std::byte*>(tensors[t].addend), place_of(own_) + offset, bytes[t]});
      run_.sums_.push_back(
          {static_cast<std::byte*>(tensors[t].sum), run_.addends_.size(), tensors[t].elements, tensors[t].element});
      for (size_t q = 0; q < ranks_.size(); ++q) run_.addends_.push_back(place_of(q) + offset);
    }
    if (packed == 0) return;
    for_others([&](size_t q) {
      send(run_.first_, q, place_of(own_), packed);
      receive(run_.first_, q, place_of(q), packed);
    });
  }

  void gather(std::span<const std::byte> own, std::span<std::byte> all) {
    if (all.size() != own.size() * ranks_.size())
      throw Error(Fault::failed,
                  fmt::format("{} ranks cannot gather {} bytes each in {}", ranks_.size(), own.size(), all.size()));
    if (own.empty()) return;
    std::byte* place = all.data() + own_ * own.size();
    if (own.data() != place) run_.before_.push_back({own.data(), place, own.size()});
    for_others([&](size_t q) {
      send(run_.first_, q, own.data(), own.size());
      receive(run_.first_, q, all.data() + q * own.size(), own.size());
    });
  }

  std::vector<size_t> positions_of(std::span<const int32_t> owners, size_t tensors) const {
    if (owners.size() != tensors)
      throw Error(Fault::failed, fmt::format("{} owners were named for {} tensors", owners.size(), tensors));
    std::vector<size_t> positions;
    for (const int32_t owner : owners) {
      const auto found = std::ranges::find(ranks_, owner);
      if (found == ranks_.end()) throw Error(Fault::failed, fmt::format("the owner {} takes no part", owner));
      positions.push_back(static_cast<size_t>(found - ranks_.begin()));
    }
    return positions;
  }

  size_t own_position() const { return own_; }

  CollectiveRun finish() {
    run_.tickets_.reserve(std::max(run_.first_.size(), run_.second_.size()));
    return std::move(run_);
  }

 private:
  // Each rank begins with another one, so that not all of them send to the same one at once.
  template <typename Visit>
  void for_others(Visit visit) {
    for (size_t i = 1; i < ranks_.size(); ++i) visit((own_ + i) % ranks_.size());
  }

  void send(std::vector<CollectiveRun::Transfer>& round, size_t to, const std::byte* source, size_t bytes) {
    round.push_back({ranks_[to], source, nullptr, bytes});
  }
  void receive(std::vector<CollectiveRun::Transfer>& round, size_t from, std::byte* target, size_t bytes) {
    round.push_back({ranks_[from], nullptr, target, bytes});
  }

  static const std::byte* addend(std::span<const Summand> tensors, const Piece& piece) {
    return static_cast<const std::byte*>(tensors[piece.tensor].addend) + piece.offset;
  }

  void add_up(const Piece& piece, const Summand& tensor, const std::byte* own) {
    run_.sums_.push_back({static_cast<std::byte*>(tensor.sum) + piece.offset, run_.addends_.size(),
                          piece.bytes / element_bytes(tensor.element), tensor.element});
    for (size_t q = 0; q < ranks_.size(); ++q) {
      run_.addends_.push_back(q == own_ ? own : staging_.data() + used_);
      if (q == own_) continue;
      receive(run_.first_, q, staging_.data() + used_, piece.bytes);
      used_ += rounded_up(piece.bytes);
    }
  }

  std::span<const int32_t> ranks_;
  size_t own_ = 0;
  std::span<std::byte> staging_;
  size_t used_ = 0;
  CollectiveRun run_;
};

size_t all_reduce_staging_bytes(std::span<const size_t> tensor_bytes, size_t rank_count) {
  if (total_of(tensor_bytes) < small_bucket_bytes) return rank_count * packed_bytes(tensor_bytes);
  const std::vector<Piece> pieces = equal_shares(tensor_bytes, rank_count);
  size_t most = 0;
  for (size_t p = 0; p < rank_count; ++p) most = std::max(most, staging_of(pieces, p, rank_count));
  return most;
}

CollectiveRun all_reduce(Communicator& communicator, std::span<const int32_t> ranks, std::span<const Summand> tensors,
                         std::span<std::byte> staging, Channel channel) {
  CollectivePlan plan(communicator, ranks, channel);
  const std::vector<size_t> bytes = bytes_of(tensors);
  plan.give_staging(staging, all_reduce_staging_bytes(bytes, ranks.size()));
  if (total_of(bytes) < small_bucket_bytes) {
    plan.exchange_packed(tensors);
  } else {
    const std::vector<Piece> pieces = equal_shares(bytes, ranks.size());
    plan.reduce(pieces, tensors);
    plan.spread(pieces, tensors);
  }
  return plan.finish();
}

size_t reduce_to_owners_staging_bytes(std::span<const size_t> tensor_bytes, std::span<const int32_t> owners,
                                      int32_t rank, size_t rank_count) {
  size_t sum = 0;
  for (size_t t = 0; t < tensor_bytes.size(); ++t)
    if (owners[t] == rank) sum += (rank_count - 1) * rounded_up(tensor_bytes[t]);
  return sum;
}

CollectiveRun reduce_to_owners(Communicator& communicator, std::span<const int32_t> ranks,
                               std::span<const int32_t> owners, std::span<const Summand> tensors,
                               std::span<std::byte> staging) {
  CollectivePlan plan(communicator, ranks);
  const std::vector<Piece> pieces = whole_tensors(bytes_of(tensors), plan.positions_of(owners, tensors.size()));
  plan.give_staging(staging, staging_of(pieces, plan.own_position(), ranks.size()));
  plan.reduce(pieces, tensors);
  return plan.finish();
}

CollectiveRun broadcast_from_owners(Communicator& communicator, std::span<const int32_t> ranks,
                                    std::span<const int32_t> owners, std::span<const std::span<std::byte>> tensors) {
  CollectivePlan plan(communicator, ranks);
  std::vector<size_t> bytes;
  std::vector<Summand> places;
  for (const auto& tensor : tensors) {
    bytes.push_back(tensor.size());
    places.push_back({.addend = tensor.data(), .sum = tensor.data()});
  }
  plan.spread(whole_tensors(bytes, plan.positions_of(owners, tensors.size())), places);
  return plan.finish();
}

CollectiveRun all_gather(Communicator& communicator, std::span<const int32_t> ranks, std::span<const std::byte> own,
                         std::span<std::byte> all) {
  CollectivePlan plan(communicator, ranks);
  plan.gather(own, all);
  return plan.finish();
}

}  // namespace gpusizer
