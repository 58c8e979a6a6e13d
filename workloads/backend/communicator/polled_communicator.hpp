// SPDX-License-Identifier: Apache-2.0
// What communicators between processes share: tickets, time-outs, signs of life, and an end for everybody.
#pragma once

#include <deque>
#include <mutex>
#include <optional>
#include <vector>

#include "workloads/backend/communicator/notice.hpp"
#include "workloads/backend/communicator/rank_signs.hpp"

namespace gpusizer {

// A transport only moves bytes and notices when asked to; all its calls are made under one lock.
class PolledCommunicator : public Communicator {
 public:
  PolledCommunicator(int rank, int size, double timeout_seconds);

  int rank() const final { return rank_; }
  int size() const final { return static_cast<int>(signs_.size()); }
  double timeout_seconds() const final { return patience_.timeout_seconds(); }
  Ticket send(int to, Channel channel, std::span<const std::byte> bytes) final;
  Ticket receive(int from, Channel channel, std::span<std::byte> bytes) final;
  bool done(Ticket ticket) final;
  void abort(const std::string& reason) final;
  void enter_step(int64_t step) final;

 protected:
  struct Message {
    bool outgoing = false, used = false, finished = false;
    int peer = 0;
    Channel channel = Channel::control;
    const std::byte* source = nullptr;
    std::byte* target = nullptr;
    size_t bytes = 0;
    double first_asked = 0;          // set to 0 when part of it has moved: slow is not silent
    uint64_t length = 0, moved = 0;  // for the transport
  };

  // Under the lock:
  virtual void begin(size_t message) = 0;
  // Moves on whatever can be; `asked` at least. Calls finish(), heard(), lost(), fail().
  virtual void move(size_t asked) = 0;
  // Whether a message to or from a rank that has left, `left_seconds` ago, may still be finished.
  virtual bool may_still_come(const Message& message, double left_seconds) = 0;
  // Never throws and never blocks for long; a sign may be dropped, an end may not.
  virtual void tell(int peer, const Notice& notice) = 0;

  Message& message(size_t index) { return messages_[index]; }
  void finish(size_t index);
  void heard(int peer, const Notice& notice);
  void lost(int peer, const std::string& how);  // "closed the connection"
  void fail(const CommunicationError& error);
  void tell_all(const Notice& notice);
  Notice notice_of(Notice::Kind kind) const;
  bool has_left(int peer) const { return left_[static_cast<size_t>(peer)] > 0; }
  void note_life(int peer) { signs_[static_cast<size_t>(peer)].heard = steady_seconds(); }
  const std::optional<CommunicationError>& failure() const { return failure_; }
  std::mutex& mutex() { return mutex_; }

 private:
  Ticket start(const Message& message);
  void throw_if_failed();
  void give_signs(double now);

  std::mutex mutex_;
  const int rank_;
  Patience patience_;
  std::vector<RankSigns> signs_;
  std::vector<double> left_;      // when; 0: it has not
  std::deque<Message> messages_;  // by ticket - 1
  std::vector<size_t> unused_;
  double next_sign_ = 0;
  std::optional<CommunicationError> failure_;
};

}  // namespace gpusizer
