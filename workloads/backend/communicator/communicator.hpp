// SPDX-License-Identifier: Apache-2.0
// What joins the ranks of a run: messages that nobody has to wait for, and the few things a run's control needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gpusizer/error.hpp"

namespace gpusizer {

// A rank is lost, silent for longer than the time-out, or gave up: no more can come of this case on any rank. The text
// names the rank and its last finished step.
class CommunicationError : public Error {
 public:
  CommunicationError(int rank, const std::string& what, const std::string& hint = "")
      : Error(Fault::failed, what, "", hint), rank_(rank) {}
  int rank() const { return rank_; }  // whose fault it is, as far as is known; -1: unknown

 private:
  int rank_;
};

// Messages of different channels do not wait for each other. Between two ranks those of one channel arrive in order.
enum class Channel : uint8_t { control, collective, point_to_point, delayed };
inline constexpr int channel_count = 4;

// The ranks of one case. Every rank has its own object; it may be used from several threads at once.
class Communicator {
 public:
  using Ticket = uint64_t;  // of a message under way; given back by done() or wait(), never 0

  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual std::string_view kind() const = 0;  // "threads", "mpi", "tcp", "wire over threads"

  // Starts a message to or from another rank and returns at once. The bytes must stay where they are until the ticket
  // is done, a call on this object has thrown CommunicationError, abort() has returned, or this object is gone: from
  // then on nobody touches them. A receiver's length is the sender's.
  virtual Ticket send(int to, Channel channel, std::span<const std::byte> bytes) = 0;
  virtual Ticket receive(int from, Channel channel, std::span<std::byte> bytes) = 0;
  // Whether it is finished; then the ticket is void. Moves messages on. Throws CommunicationError: at once where a rank
  // is known to be lost, and when the ticket was asked for longer than timeout_seconds().
  virtual bool done(Ticket ticket) = 0;
  // Gives the processor away until something may have arrived, for at most so long.
  virtual void pause(double most_seconds = 0.0005) = 0;
  // Ends everybody's waiting: their calls throw CommunicationError with this reason, whatever they wait for. The first
  // reason counts. Never throws.
  virtual void abort(const std::string& reason) = 0;

  // The step this rank is in, from 1, for the texts of errors.
  virtual void enter_step(int64_t step) = 0;
  virtual double timeout_seconds() const = 0;

  // Until the ticket is done. Throws CommunicationError, after timeout_seconds() at the latest.
  void wait(Ticket ticket);
  // Blocking, by all ranks in the same order, on the control channel:
  void barrier();
  std::vector<std::string> all_gather(std::string_view own);
  std::string broadcast(int root, std::string_view own);
};

}  // namespace gpusizer
