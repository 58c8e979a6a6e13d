// SPDX-License-Identifier: Apache-2.0
// Passes every call on.
#include "bench/runner/borrowed_communicator.hpp"

namespace gpusizer {
namespace {

class Borrowed final : public Communicator {
 public:
  explicit Borrowed(Communicator& lent) : lent_(lent) {}
  int rank() const override { return lent_.rank(); }
  int size() const override { return lent_.size(); }
  std::string_view kind() const override { return lent_.kind(); }
  Ticket send(int to, Channel channel, std::span<const std::byte> bytes) override {
    return lent_.send(to, channel, bytes);
  }
  Ticket receive(int from, Channel channel, std::span<std::byte> bytes) override {
    return lent_.receive(from, channel, bytes);
  }
  bool done(Ticket ticket) override { return lent_.done(ticket); }
  void pause(double most_seconds) override { lent_.pause(most_seconds); }
  void abort(const std::string& reason) override { lent_.abort(reason); }
  void enter_step(int64_t step) override { lent_.enter_step(step); }
  double timeout_seconds() const override { return lent_.timeout_seconds(); }

 private:
  Communicator& lent_;
};

}  // namespace

std::unique_ptr<Communicator> borrowed(Communicator& lent) { return std::make_unique<Borrowed>(lent); }

}  // namespace gpusizer
