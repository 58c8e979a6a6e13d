// SPDX-License-Identifier: Apache-2.0
// What the ranks of a thread group share: who waits for which message, under one lock; bytes are copied outside it.
#pragma once

#include <array>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

#include "workloads/backend/communicator/rank_signs.hpp"

namespace gpusizer {

class ThreadGroupState {
 public:
  using Ticket = Communicator::Ticket;
  ThreadGroupState(int size, double timeout_seconds);

  // Each holder calls release() once; the last one destroys the state.
  void hold();
  void release();

  void join(int rank);
  void leave(int rank);
  Ticket send(int rank, int to, Channel channel, std::span<const std::byte> bytes);
  Ticket receive(int rank, int from, Channel channel, std::span<std::byte> bytes);
  bool done(int rank, Ticket ticket);
  void pause(int rank, double most_seconds);
  void abort(int rank, const std::string& reason);  // rank -1: the owner of the group
  void enter_step(int rank, int64_t step);

  int size() const { return static_cast<int>(ranks_.size()); }
  double timeout_seconds() const { return timeout_; }
  int64_t step(int rank) const;
  std::string failure() const;

 private:
  using Lock = std::unique_lock<std::mutex>;
  static constexpr uint32_t nobody = UINT32_MAX;

  struct Message {
    enum class State : uint8_t { unused, waiting, copying, finished } state = State::unused;
    bool outgoing = false;
    Channel channel = Channel::control;
    int rank = 0, peer = 0;
    const std::byte* source = nullptr;
    std::byte* target = nullptr;
    size_t bytes = 0;
    double first_asked = 0;
    uint32_t generation = 0, next = nobody;  // of the line that it stands in, or of the unused ones
  };
  // Messages from one rank to another on one channel whose other side has not come yet, in order.
  struct Line {
    uint32_t first = nobody, last = nobody;
  };
  struct Rank {
    explicit Rank(double timeout_seconds) : patience(timeout_seconds) {}
    Patience patience;
    std::condition_variable changed;
    uint64_t changes = 0;
    int copies = 0;  // under way from or into this rank's buffers
    bool joined = false, left = false;
  };

  Rank& of(int rank) { return ranks_[static_cast<size_t>(rank)]; }
  RankSigns& signs(int rank) { return signs_[static_cast<size_t>(rank)]; }
  Line& line(const Message& message, bool outgoing);
  void require_peer(int rank, int peer) const;
  Ticket start(Message message);
  uint32_t place(const Message& message);
  void copy(Lock& lock, uint32_t sender, uint32_t receiver, int caller);
  void forget(uint32_t index);
  void forget_lines_of(int rank);
  void wake(int rank);
  void fail(const CommunicationError& error);
  [[noreturn]] void give_up(Lock& lock, int rank);
  void wait_for_copies(Lock& lock, int rank);

  mutable std::mutex mutex_;
  const double timeout_;
  int holders_ = 1;
  std::deque<Rank> ranks_;  // a condition variable does not move
  std::vector<RankSigns> signs_;
  std::vector<Message> messages_;
  std::vector<std::array<Line, 2>> lines_;  // by sender, receiver and channel: waiting receives, waiting sends
  uint32_t first_unused_ = nobody;
  std::optional<CommunicationError> failure_;
};

}  // namespace gpusizer
