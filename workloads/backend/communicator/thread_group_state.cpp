// SPDX-License-Identifier: Apache-2.0
// The second of a message's two sides to come copies it. After a failure no copy begins, and nobody leaves a call while
// one from or into its own buffers is under way.
#include "workloads/backend/communicator/thread_group_state.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <ranges>
#include <utility>

namespace gpusizer {

namespace {
// How many of its rank's changes there were when this thread last paused: each of a rank's threads must look again
// after each change, whatever the others saw.
thread_local uint64_t seen_changes = 0;
}  // namespace

ThreadGroupState::ThreadGroupState(int size, double timeout_seconds) : timeout_(timeout_seconds) {
  if (size < 1) throw Error(Fault::usage, fmt::format("{} ranks cannot be joined", size));
  for (int r = 0; r < size; ++r) ranks_.emplace_back(timeout_seconds);
  const auto count = static_cast<size_t>(size);
  signs_.resize(count);
  lines_.resize(count * count * channel_count);
}

void ThreadGroupState::hold() {
  const Lock lock(mutex_);
  ++holders_;
}

void ThreadGroupState::release() {
  bool last = false;
  {
    const Lock lock(mutex_);
    last = --holders_ == 0;
  }
  if (last) delete this;
}

void ThreadGroupState::join(int rank) {
  const Lock lock(mutex_);
  if (rank < 0 || rank >= size()) throw Error(Fault::usage, fmt::format("rank {} is not one of {}", rank, size()));
  if (of(rank).joined) throw Error(Fault::usage, fmt::format("rank {} has joined already", rank));
  of(rank).joined = true;
  signs(rank).heard = steady_seconds();
}

void ThreadGroupState::leave(int rank) {
  Lock lock(mutex_);
  of(rank).left = true;
  forget_lines_of(rank);
  wait_for_copies(lock, rank);
  for (int r = 0; r < size(); ++r) wake(r);
}

ThreadGroupState::Ticket ThreadGroupState::send(int rank, int to, Channel channel, std::span<const std::byte> bytes) {
  return start({.state = Message::State::waiting,
                .outgoing = true,
                .channel = channel,
                .rank = rank,
                .peer = to,
                .source = bytes.data(),
                .bytes = bytes.size()});
}

ThreadGroupState::Ticket ThreadGroupState::receive(int rank, int from, Channel channel, std::span<std::byte> bytes) {
  return start({.state = Message::State::waiting,
                .outgoing = false,
                .channel = channel,
                .rank = rank,
                .peer = from,
                .target = bytes.data(),
                .bytes = bytes.size()});
}

void ThreadGroupState::require_peer(int rank, int peer) const {
  if (peer < 0 || peer >= size() || peer == rank)
    throw Error(Fault::failed, fmt::format("rank {} of {} has no messages for rank {}", rank, size(), peer));
}

ThreadGroupState::Line& ThreadGroupState::line(const Message& m, bool outgoing) {
  const auto from = static_cast<size_t>(m.outgoing ? m.rank : m.peer);
  const auto to = static_cast<size_t>(m.outgoing ? m.peer : m.rank);
  const size_t index = (from * ranks_.size() + to) * channel_count + static_cast<size_t>(m.channel);
  return lines_[index][outgoing ? 1 : 0];
}

uint32_t ThreadGroupState::place(const Message& message) {
  if (first_unused_ == nobody) {
    first_unused_ = static_cast<uint32_t>(messages_.size());
    messages_.emplace_back();
  }
  const uint32_t index = first_unused_;
  const uint32_t generation = messages_[index].generation + 1;
  first_unused_ = messages_[index].next;
  messages_[index] = message;
  messages_[index].generation = generation;
  return index;
}

void ThreadGroupState::forget(uint32_t index) {
  messages_[index].state = Message::State::unused;
  messages_[index].next = first_unused_;
  first_unused_ = index;
}

ThreadGroupState::Ticket ThreadGroupState::start(Message message) {
  Lock lock(mutex_);
  require_peer(message.rank, message.peer);
  signs(message.rank).heard = steady_seconds();
  if (failure_) give_up(lock, message.rank);
  const uint32_t index = place(message);
  const Ticket ticket = (uint64_t{messages_[index].generation} << 32u) | (index + 1);
  Line& partners = line(message, !message.outgoing);
  if (partners.first != nobody) {
    const uint32_t partner = partners.first;
    partners.first = messages_[partner].next;
    copy(lock, message.outgoing ? index : partner, message.outgoing ? partner : index, message.rank);
    return ticket;
  }
  Line& own = line(message, message.outgoing);
  (own.first == nobody ? own.first : messages_[own.last].next) = index;
  own.last = index;
  return ticket;
}

void ThreadGroupState::copy(Lock& lock, uint32_t sender, uint32_t receiver, int caller) {
  const Message from = messages_[sender], to = messages_[receiver];
  if (from.bytes != to.bytes) {
    fail(CommunicationError(from.rank, fmt::format("rank {} sends {} bytes where rank {} expects {}", from.rank,
                                                   from.bytes, to.rank, to.bytes)));
    give_up(lock, caller);
  }
  messages_[sender].state = messages_[receiver].state = Message::State::copying;
  ++of(from.rank).copies;
  ++of(to.rank).copies;
  lock.unlock();
  if (from.bytes > 0) std::memcpy(to.target, from.source, from.bytes);
  lock.lock();
  messages_[sender].state = messages_[receiver].state = Message::State::finished;
  for (const int rank : {from.rank, to.rank}) {
    --of(rank).copies;
    wake(rank);
  }
}

bool ThreadGroupState::done(int rank, Ticket ticket) {
  Lock lock(mutex_);
  const double now = steady_seconds();
  signs(rank).heard = now;
  const auto index = static_cast<uint32_t>(ticket) - 1;
  if (failure_) give_up(lock, rank);
  if (index >= messages_.size() || messages_[index].generation != ticket >> 32u ||
      messages_[index].state == Message::State::unused)
    throw Error(Fault::failed, fmt::format("rank {} asks for a message that is not under way", rank));
  Message& message = messages_[index];
  const bool over = of(rank).patience.is_over(now, message.first_asked);
  signs(rank).waits_for = message.state == Message::State::finished ? -1 : message.peer;
  if (message.state == Message::State::finished) {
    forget(index);
    return true;
  }
  if (message.state == Message::State::waiting && of(message.peer).left)
    fail(CommunicationError(message.peer,
                            fmt::format("rank {} has ended {}", message.peer, step_text(signs(message.peer).step))));
  else if (over)
    fail(silence(signs_, message.peer, timeout_));
  if (failure_) give_up(lock, rank);
  return false;
}

void ThreadGroupState::pause(int rank, double most_seconds) {
  Lock lock(mutex_);
  Rank& own = of(rank);
  own.changed.wait_for(lock, std::chrono::duration<double>(most_seconds),
                       [&] { return failure_ || own.changes != seen_changes; });
  seen_changes = own.changes;
}

void ThreadGroupState::abort(int rank, const std::string& reason) {
  Lock lock(mutex_);
  if (rank < 0)
    fail(CommunicationError(-1, reason));
  else
    fail(CommunicationError(rank, fmt::format("rank {} gave up {} ({})", rank, step_text(signs(rank).step), reason)));
  if (rank >= 0) wait_for_copies(lock, rank);
}

void ThreadGroupState::enter_step(int rank, int64_t step) {
  const Lock lock(mutex_);
  signs(rank).step = step;
  signs(rank).heard = steady_seconds();
}

int64_t ThreadGroupState::step(int rank) const {
  const Lock lock(mutex_);
  return signs_.at(static_cast<size_t>(rank)).step;
}

std::string ThreadGroupState::failure() const {
  const Lock lock(mutex_);
  return failure_ ? failure_->what() : "";
}

void ThreadGroupState::fail(const CommunicationError& error) {
  if (!failure_) failure_ = error;
  for (int r = 0; r < size(); ++r) wake(r);
}

void ThreadGroupState::give_up(Lock& lock, int rank) {
  wait_for_copies(lock, rank);
  throw CommunicationError(*failure_);
}

void ThreadGroupState::wait_for_copies(Lock& lock, int rank) {
  of(rank).changed.wait(lock, [&] { return of(rank).copies == 0; });
}

void ThreadGroupState::wake(int rank) {
  ++of(rank).changes;
  of(rank).changed.notify_all();
}

void ThreadGroupState::forget_lines_of(int rank) {
  for (Line& one : lines_ | std::views::join) {
    uint32_t kept_last = nobody;
    for (uint32_t index = std::exchange(one.first, nobody); index != nobody;) {
      const uint32_t next = std::exchange(messages_[index].next, nobody);
      if (messages_[index].rank == rank) {
        forget(index);
      } else {
        (kept_last == nobody ? one.first : messages_[kept_last].next) = index;
        kept_last = index;
      }
      index = next;
    }
    one.last = kept_last;
  }
}

}  // namespace gpusizer
