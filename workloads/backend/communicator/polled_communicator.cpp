// SPDX-License-Identifier: Apache-2.0
// The life of a message between processes, and of those who wait for it.
#include "workloads/backend/communicator/polled_communicator.hpp"

#include <fmt/format.h>

namespace gpusizer {

PolledCommunicator::PolledCommunicator(int rank, int size, double timeout_seconds)
    : rank_(rank), patience_(timeout_seconds), signs_(static_cast<size_t>(size)), left_(static_cast<size_t>(size)) {
  for (RankSigns& signs : signs_) signs.heard = steady_seconds();
}

Communicator::Ticket PolledCommunicator::send(int to, Channel channel, std::span<const std::byte> bytes) {
  return start(
      {.outgoing = true, .used = true, .peer = to, .channel = channel, .source = bytes.data(), .bytes = bytes.size()});
}

Communicator::Ticket PolledCommunicator::receive(int from, Channel channel, std::span<std::byte> bytes) {
  return start({.outgoing = false,
                .used = true,
                .peer = from,
                .channel = channel,
                .target = bytes.data(),
                .bytes = bytes.size()});
}

Communicator::Ticket PolledCommunicator::start(const Message& message) {
  const std::lock_guard lock(mutex_);
  if (message.peer < 0 || message.peer >= size() || message.peer == rank_)
    throw Error(Fault::failed, fmt::format("rank {} of {} has no messages for rank {}", rank_, size(), message.peer));
  throw_if_failed();
  if (unused_.empty()) {
    unused_.push_back(messages_.size());
    messages_.emplace_back();
  }
  const size_t index = unused_.back();
  unused_.pop_back();
  messages_[index] = message;
  begin(index);
  throw_if_failed();
  return index + 1;
}

bool PolledCommunicator::done(Ticket ticket) {
  const std::lock_guard lock(mutex_);
  throw_if_failed();
  if (ticket == 0 || ticket > messages_.size() || !messages_[ticket - 1].used)
    throw Error(Fault::failed, fmt::format("rank {} asks for a message that is not under way", rank_));
  Message& m = messages_[ticket - 1];
  if (!m.finished) move(ticket - 1);
  throw_if_failed();
  const double now = steady_seconds();
  const bool over = patience_.is_over(now, m.first_asked);
  RankSigns& own = signs_[static_cast<size_t>(rank_)];
  own.heard = now;
  own.waits_for = m.finished ? -1 : m.peer;
  if (m.finished) {
    m.used = false;
    unused_.push_back(ticket - 1);
    return true;
  }
  if (has_left(m.peer) && !may_still_come(m, now - left_[static_cast<size_t>(m.peer)]))
    fail(CommunicationError(
        m.peer, fmt::format("rank {} has ended {}", m.peer, step_text(signs_[static_cast<size_t>(m.peer)].step))));
  else if (over)
    fail(silence(signs_, m.peer, timeout_seconds()));
  throw_if_failed();
  give_signs(now);
  return false;
}

void PolledCommunicator::abort(const std::string& reason) {
  try {
    const std::lock_guard lock(mutex_);
    fail(CommunicationError(rank_, fmt::format("rank {} gave up {} ({})", rank_,
                                               step_text(signs_[static_cast<size_t>(rank_)].step), reason)));
  } catch (...) {  // nobody is left to tell
  }
}

void PolledCommunicator::enter_step(int64_t step) {
  const std::lock_guard lock(mutex_);
  signs_[static_cast<size_t>(rank_)].step = step;
  if (!failure_) tell_all(notice_of(Notice::Kind::sign));
}

void PolledCommunicator::finish(size_t index) {
  messages_[index].finished = true;
  if (!messages_[index].outgoing) note_life(messages_[index].peer);
}

void PolledCommunicator::heard(int peer, const Notice& notice) {
  RankSigns& signs = signs_[static_cast<size_t>(peer)];
  signs = {notice.step, steady_seconds(), notice.waits_for};
  if (notice.kind == Notice::Kind::leaving) left_[static_cast<size_t>(peer)] = signs.heard;
  // Told again, so that the reason reaches everybody before the end of those who heard it first does.
  if (notice.kind == Notice::Kind::abort) fail(CommunicationError(notice.blamed, notice.said()));
}

void PolledCommunicator::lost(int peer, const std::string& how) {
  if (has_left(peer)) return;
  fail(CommunicationError(peer,
                          fmt::format("rank {} {} {}", peer, how, step_text(signs_[static_cast<size_t>(peer)].step))));
}

void PolledCommunicator::fail(const CommunicationError& error) {
  if (failure_) return;
  failure_ = error;
  Notice notice = notice_of(Notice::Kind::abort);
  notice.blamed = error.rank();
  notice.say(error.what());
  tell_all(notice);
}

Notice PolledCommunicator::notice_of(Notice::Kind kind) const {
  const RankSigns& own = signs_[static_cast<size_t>(rank_)];
  return {.kind = kind, .waits_for = own.waits_for, .step = own.step};
}

void PolledCommunicator::tell_all(const Notice& notice) {
  for (int peer = 0; peer < size(); ++peer)
    if (peer != rank_ && !has_left(peer)) tell(peer, notice);
}

void PolledCommunicator::throw_if_failed() {
  if (failure_) throw CommunicationError(*failure_);
}

// Eight times before others lose their patience.
void PolledCommunicator::give_signs(double now) {
  if (now < next_sign_) return;
  next_sign_ = now + timeout_seconds() / 8;
  tell_all(notice_of(Notice::Kind::sign));
}

}  // namespace gpusizer
