// SPDX-License-Identifier: Apache-2.0
// Every message travels at once, behind a stamp that says when it may be seen; the receiver waits for that moment.
#include "workloads/backend/communicator/wire.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

#include "workloads/backend/communicator/rank_signs.hpp"

namespace gpusizer {

namespace {

class WireCommunicator final : public Communicator {
 public:
  WireCommunicator(std::unique_ptr<Communicator> inner, const WireSpeed& speed)
      : speed_(speed), kind_(fmt::format("wire over {}", inner->kind())), inner_(std::move(inner)) {}

  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }
  std::string_view kind() const override { return kind_; }
  void abort(const std::string& reason) override { inner_->abort(reason); }
  void enter_step(int64_t step) override { inner_->enter_step(step); }
  double timeout_seconds() const override { return inner_->timeout_seconds(); }

  Ticket send(int to, Channel channel, std::span<const std::byte> bytes) override {
    const std::lock_guard lock(mutex_);
    const size_t index = place();
    Message& m = messages_[index];
    if (speed_.bytes_per_second > 0)
      link_free_ = std::max(link_free_, steady_seconds()) + static_cast<double>(bytes.size()) / speed_.bytes_per_second;
    else
      link_free_ = steady_seconds();
    m.due = link_free_;  // the sender's buffer is free once the link has taken it
    m.stamp = link_free_ + speed_.latency_seconds;
    m.outgoing = true;
    m.stamp_ticket = inner_->send(to, channel, std::as_bytes(std::span(&m.stamp, 1)));
    m.bytes_ticket = inner_->send(to, channel, bytes);
    return index + 1;
  }

  Ticket receive(int from, Channel channel, std::span<std::byte> bytes) override {
    const std::lock_guard lock(mutex_);
    const size_t index = place();
    Message& m = messages_[index];
    m.stamp_ticket = inner_->receive(from, channel, std::as_writable_bytes(std::span(&m.stamp, 1)));
    m.bytes_ticket = inner_->receive(from, channel, bytes);
    return index + 1;
  }

  bool done(Ticket ticket) override {
    const std::lock_guard lock(mutex_);
    if (ticket == 0 || ticket > messages_.size() || !messages_[ticket - 1].used)
      throw Error(Fault::failed, fmt::format("rank {} asks for a message that is not under way", rank()));
    Message& m = messages_[ticket - 1];
    for (Ticket* inner : {&m.stamp_ticket, &m.bytes_ticket}) {
      if (*inner == 0) continue;
      if (!inner_->done(*inner)) return false;
      *inner = 0;
    }
    const double due = m.outgoing ? m.due : m.stamp;
    if (steady_seconds() < due) {
      next_due_ = std::min(next_due_, due);
      return false;
    }
    m.used = false;
    unused_.push_back(ticket - 1);
    return true;
  }

  void pause(double most_seconds) override {
    double due = std::numeric_limits<double>::infinity();
    {
      const std::lock_guard lock(mutex_);
      std::swap(due, next_due_);
    }
    const double seconds = due - steady_seconds();
    if (seconds > most_seconds) return inner_->pause(most_seconds);
    if (seconds > 0) std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  }

 private:
  struct Message {
    Ticket stamp_ticket = 0, bytes_ticket = 0;  // 0: finished
    double stamp = 0, due = 0;
    bool outgoing = false, used = false;
  };

  size_t place() {
    if (unused_.empty()) {
      unused_.push_back(messages_.size());
      messages_.emplace_back();
    }
    const size_t index = unused_.back();
    unused_.pop_back();
    messages_[index] = {.used = true};
    return index;
  }

  const WireSpeed speed_;
  const std::string kind_;
  std::mutex mutex_;
  std::deque<Message> messages_;  // stamps stay where they are
  std::vector<size_t> unused_;
  double link_free_ = 0;
  double next_due_ = std::numeric_limits<double>::infinity();  // of the messages asked for since the last pause
  std::unique_ptr<Communicator> inner_;                        // goes first: until then it may touch the stamps
};

}  // namespace

std::unique_ptr<Communicator> make_wire(std::unique_ptr<Communicator> inner, const WireSpeed& speed) {
  for (const double value : {speed.latency_seconds, speed.bytes_per_second})
    if (!std::isfinite(value) || value < 0)
      throw Error(Fault::usage, fmt::format("a wire has no latency or bandwidth of {}", value));
  return std::make_unique<WireCommunicator>(std::move(inner), speed);
}

}  // namespace gpusizer
