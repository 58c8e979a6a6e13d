// SPDX-License-Identifier: Apache-2.0
// Slots in a ring: one is filled, the one after it is told, those between are under way.
#include "workloads/backend/streams/delayed_sum.hpp"

#include <algorithm>

#include "workloads/program/operations.hpp"

namespace gpusizer {

DelayedSum::DelayedSum(const Operation& op, Communicator& communicator, const CommunicationBuffers& buffers,
                       BackgroundCollectives& background)
    : buffers_(buffers), background_(background), count_(given_inputs(op)) {
  const auto& a = std::get<CollectiveAttributes>(op.attributes);
  delay_ = a.delay;
  for (int64_t k = 0; k <= delay_; ++k) {
    std::vector<Summand> summands;
    for (const std::span<std::byte> kept : slot(k))
      summands.push_back({kept.data(), kept.data(), kept.size() / element_bytes(buffers_.element), buffers_.element});
    runs_.push_back(all_reduce(communicator, a.ranks, summands, buffers_.staging, Channel::delayed));
  }
}

int64_t DelayedSum::steps() const {
  const std::byte* count = buffers_.inputs.back().data();
  return buffers_.element == Element::f64 ? static_cast<int64_t>(*reinterpret_cast<const double*>(count))
                                          : static_cast<int64_t>(*reinterpret_cast<const float*>(count));
}

std::span<const std::span<std::byte>> DelayedSum::slot(int64_t step) const {
  const auto k = static_cast<size_t>(step % (delay_ + 1));
  return std::span(buffers_.inputs).subspan((k + 1) * count_, count_);
}

void DelayedSum::copy(std::span<const std::span<std::byte>> from, std::span<const std::span<std::byte>> to) const {
  for (size_t i = 0; i < count_; ++i) std::ranges::copy(from[i], to[i].begin());
}

void DelayedSum::start() {
  step_ = steps();
  copy(buffers_.inputs, slot(step_));
  background_.post(runs_[static_cast<size_t>(step_ % (delay_ + 1))], step_);
}

bool DelayedSum::advance() {
  if (!background_.finished(step_ - delay_)) return false;
  copy(slot(step_ + 1), buffers_.outputs);
  return true;
}

}  // namespace gpusizer
