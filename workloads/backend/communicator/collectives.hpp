// SPDX-License-Identifier: Apache-2.0
// What several ranks do together, made of messages, in a form that nobody has to wait for: planned once, run often.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "workloads/backend/communicator/communicator.hpp"

namespace gpusizer {

enum class Element : uint8_t { f32, f64 };
size_t element_bytes(Element element);

// A tensor to be summed. `sum` may be the addend's own memory; otherwise the two do not overlap.
struct Summand {
  const void* addend = nullptr;
  void* sum = nullptr;  // not written, and may be null, on a rank that does not get it
  size_t elements = 0;
  Element element = Element::f32;
};

// A collective of some of the world's ranks on one channel: two rounds of messages, with sums between them.
// Addresses are fixed when it is planned; start() and advance() then allocate nothing. All ranks that take part must
// run the same collectives, over tensors of the same sizes, in the same order; between two ranks one at a time on each
// channel.
class CollectiveRun {
 public:
  // Begins a run; the one before it must have finished.
  void start();
  // Moves it on; true once it has finished on this rank. Throws CommunicationError.
  bool advance();
  // start(), then advance() until it has finished.
  void run();

  // What this rank sends in one run, all messages together.
  size_t bytes_sent() const;
  // How many messages this rank sends in one run.
  size_t messages_sent() const;

 private:
  friend class CollectivePlan;
  struct Transfer {
    int peer;
    const std::byte* source;  // null: it is received
    std::byte* target;
    size_t bytes;
  };
  struct Copy {
    const std::byte* source;
    std::byte* target;
    size_t bytes;
  };
  // target = the sum of addends_[first_addend ...], one of each rank in ascending order
  struct Sum {
    std::byte* target;
    size_t first_addend, elements;
    Element element;
  };
  CollectiveRun(Communicator& communicator, Channel channel) : communicator_(&communicator), channel_(channel) {}
  void post(const std::vector<Transfer>& round);
  bool all_done();

  Communicator* communicator_;
  Channel channel_;
  std::vector<Copy> before_;  // made before the first round
  std::vector<Transfer> first_, second_;
  std::vector<Sum> sums_;
  std::vector<const std::byte*> addends_;
  size_t addends_of_each_ = 0;
  std::vector<Communicator::Ticket> tickets_;
  size_t next_ticket_ = 0;
  enum class Stage : uint8_t { idle, first, second } stage_ = Stage::idle;
};

// Each tensor's sum over the ranks, on all of them. Element by element, addends are added in ascending order of the
// ranks, in the element's own type: the bits are the same on all ranks, whatever joins them and however tensors are put
// together. Each rank sums its share of the elements and sends it to all, so that a rank sends 2 (n-1)/n of the bytes
// (buckets smaller than small_bucket_bytes go whole to everybody instead, in one message each).
// `ranks`: that take part, ascending, of the world. `staging`: as many bytes as all_reduce_staging_bytes says.
CollectiveRun all_reduce(Communicator& communicator, std::span<const int32_t> ranks, std::span<const Summand> tensors,
                         std::span<std::byte> staging, Channel channel = Channel::collective);
size_t all_reduce_staging_bytes(std::span<const size_t> tensor_bytes, size_t rank_count);
inline constexpr size_t small_bucket_bytes = 16384;

// Each tensor's sum over the ranks, on its owner only, added as in all_reduce. A rank sends each tensor to its owner.
CollectiveRun reduce_to_owners(Communicator& communicator, std::span<const int32_t> ranks,
                               std::span<const int32_t> owners, std::span<const Summand> tensors,
                               std::span<std::byte> staging);
// For the tensors' owners: the bytes that `rank` needs.
size_t reduce_to_owners_staging_bytes(std::span<const size_t> tensor_bytes, std::span<const int32_t> owners,
                                      int32_t rank, size_t rank_count);

// Each tensor, as its owner has it, on all ranks.
CollectiveRun broadcast_from_owners(Communicator& communicator, std::span<const int32_t> ranks,
                                    std::span<const int32_t> owners, std::span<const std::span<std::byte>> tensors);

// What each rank has, one after the other in the order of `ranks`. `all` is ranks.size() times as long as `own`, and
// may hold it already in its place.
CollectiveRun all_gather(Communicator& communicator, std::span<const int32_t> ranks, std::span<const std::byte> own,
                         std::span<std::byte> all);

}  // namespace gpusizer
