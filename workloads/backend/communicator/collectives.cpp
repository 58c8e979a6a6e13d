// SPDX-License-Identifier: Apache-2.0
// Runs a planned collective: posts a round of messages, waits for none of them, adds, posts the next.
#include "workloads/backend/communicator/collectives.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace gpusizer {

namespace {

// The target may be one of the addends: a block is added up beside it before it is written.
template <typename T>
void add_up(std::byte* target, std::span<const std::byte* const> addends, size_t elements) {
  constexpr size_t block = 1024;
  std::array<T, block> sum;
  for (size_t first = 0; first < elements; first += block) {
    const size_t count = std::min(block, elements - first);
    std::memcpy(sum.data(), addends[0] + first * sizeof(T), count * sizeof(T));
    for (const std::byte* addend : addends.subspan(1)) {
      const T* values = reinterpret_cast<const T*>(addend) + first;
      for (size_t i = 0; i < count; ++i) sum[i] += values[i];
    }
    std::memcpy(target + first * sizeof(T), sum.data(), count * sizeof(T));
  }
}

}  // namespace

size_t element_bytes(Element element) { return element == Element::f64 ? 8 : 4; }

void CollectiveRun::post(const std::vector<Transfer>& round) {
  tickets_.clear();
  next_ticket_ = 0;
  for (const Transfer& t : round)
    if (!t.source) tickets_.push_back(communicator_->receive(t.peer, channel_, {t.target, t.bytes}));
  for (const Transfer& t : round)
    if (t.source) tickets_.push_back(communicator_->send(t.peer, channel_, {t.source, t.bytes}));
}

bool CollectiveRun::all_done() {
  while (next_ticket_ < tickets_.size() && communicator_->done(tickets_[next_ticket_])) ++next_ticket_;
  return next_ticket_ == tickets_.size();
}

void CollectiveRun::start() {
  if (stage_ != Stage::idle) throw Error(Fault::failed, "a collective was started again before it had finished");
  for (const Copy& c : before_) std::memcpy(c.target, c.source, c.bytes);
  post(first_);
  stage_ = Stage::first;
}

bool CollectiveRun::advance() {
  if (stage_ == Stage::idle) return true;
  if (!all_done()) return false;
  if (stage_ == Stage::first) {
    for (const Sum& s : sums_) {
      const std::span addends = std::span(addends_).subspan(s.first_addend, addends_of_each_);
      if (s.element == Element::f64)
        add_up<double>(s.target, addends, s.elements);
      else
        add_up<float>(s.target, addends, s.elements);
    }
    post(second_);
    stage_ = Stage::second;
    if (!all_done()) return false;
  }
  stage_ = Stage::idle;
  return true;
}

void CollectiveRun::run() {
  start();
  while (!advance()) communicator_->pause();
}

size_t CollectiveRun::bytes_sent() const {
  size_t sum = 0;
  for (const auto* round : {&first_, &second_})
    for (const Transfer& t : *round)
      if (t.source) sum += t.bytes;
  return sum;
}

size_t CollectiveRun::messages_sent() const {
  size_t count = 0;
  for (const auto* round : {&first_, &second_})
    count += static_cast<size_t>(std::ranges::count_if(*round, [](const Transfer& t) { return t.source != nullptr; }));
  return count;
}

}  // namespace gpusizer
