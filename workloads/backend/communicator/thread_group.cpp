// SPDX-License-Identifier: Apache-2.0
// Each rank's view of a thread group.
#include "workloads/backend/communicator/thread_group.hpp"

#include "workloads/backend/communicator/thread_group_state.hpp"

namespace gpusizer {

namespace {

class ThreadCommunicator final : public Communicator {
 public:
  ThreadCommunicator(ThreadGroupState* state, int rank) : state_(state), rank_(rank) {
    state_->join(rank);
    state_->hold();
  }
  ~ThreadCommunicator() override {
    state_->leave(rank_);
    state_->release();
  }
  ThreadCommunicator(const ThreadCommunicator&) = delete;
  ThreadCommunicator& operator=(const ThreadCommunicator&) = delete;

  int rank() const override { return rank_; }
  int size() const override { return state_->size(); }
  std::string_view kind() const override { return "threads"; }
  Ticket send(int to, Channel channel, std::span<const std::byte> bytes) override {
    return state_->send(rank_, to, channel, bytes);
  }
  Ticket receive(int from, Channel channel, std::span<std::byte> bytes) override {
    return state_->receive(rank_, from, channel, bytes);
  }
  bool done(Ticket ticket) override { return state_->done(rank_, ticket); }
  void pause(double most_seconds) override { state_->pause(rank_, most_seconds); }
  void abort(const std::string& reason) override { state_->abort(rank_, reason); }
  void enter_step(int64_t step) override { state_->enter_step(rank_, step); }
  double timeout_seconds() const override { return state_->timeout_seconds(); }

 private:
  ThreadGroupState* state_;
  int rank_;
};

}  // namespace

ThreadGroup::ThreadGroup(int size, double timeout_seconds) : state_(new ThreadGroupState(size, timeout_seconds)) {}
ThreadGroup::~ThreadGroup() { state_->release(); }
std::unique_ptr<Communicator> ThreadGroup::join(int rank) { return std::make_unique<ThreadCommunicator>(state_, rank); }
void ThreadGroup::abort(const std::string& reason) { state_->abort(-1, reason); }
int64_t ThreadGroup::step(int rank) const { return state_->step(rank); }
std::string ThreadGroup::failure() const { return state_->failure(); }

}  // namespace gpusizer
