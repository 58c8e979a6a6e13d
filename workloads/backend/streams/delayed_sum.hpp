// SPDX-License-Identifier: Apache-2.0
// A delayed_all_reduce as a task: what a step gives is summed while later steps are computed.
#pragma once

#include <vector>

#include "workloads/backend/streams/background_collectives.hpp"
#include "workloads/backend/streams/communication.hpp"

namespace gpusizer {

// The task of one step ends when the sums of `delay` steps ago are there, which are then told. Needs nothing of the other
// ranks' present step: they may be up to `delay` steps behind. What is under way is in the operation's slots, which
// persist; so a program that goes on with them, on other batches say, goes on where this one stopped.
class DelayedSum final : public CommunicationTask {
 public:
  // `background` and the memory in `buffers` must outlive this; the staging may be that of all delayed sums.
  DelayedSum(const Operation& op, Communicator& communicator, const CommunicationBuffers& buffers,
             BackgroundCollectives& background);
  void start() override;
  bool advance() override;

 private:
  int64_t steps() const;
  void copy(std::span<const std::span<std::byte>> from, std::span<const std::span<std::byte>> to) const;
  std::span<const std::span<std::byte>> slot(int64_t step) const;

  CommunicationBuffers buffers_;
  BackgroundCollectives& background_;
  size_t count_;  // tensors that are summed
  int64_t delay_;
  std::vector<CollectiveRun> runs_;  // of each slot
  int64_t step_ = 0;
};

}  // namespace gpusizer
