// SPDX-License-Identifier: Apache-2.0
// Finds the silent rank behind those who only wait for it.
#include "workloads/backend/communicator/rank_signs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace gpusizer {

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int missing_rank(std::span<const RankSigns> ranks, int suspect, double fresh_seconds) {
  const double now = steady_seconds();
  int blamed = suspect;
  for (size_t hops = 0; hops < ranks.size(); ++hops) {
    const RankSigns& signs = ranks[static_cast<size_t>(blamed)];
    if (now - signs.heard > fresh_seconds || signs.waits_for < 0) return blamed;
    blamed = signs.waits_for;
  }
  return suspect;
}

std::string step_text(int64_t step) {
  if (step <= 0) return "before its first step";
  if (step == 1) return "in step 1, its first";
  return fmt::format("in step {}; the last step it finished is {}", step, step - 1);
}

CommunicationError silence(std::span<const RankSigns> ranks, int suspect, double timeout_seconds) {
  const int rank = missing_rank(ranks, suspect, timeout_seconds / 2);
  return CommunicationError(rank, fmt::format("rank {} did not answer for {} s {}", rank, timeout_seconds,
                                              step_text(ranks[static_cast<size_t>(rank)].step)));
}

bool Patience::is_over(double now, double& first_asked) {
  if (now - last_asked_ > timeout_ / 2) back_since_ = now;
  last_asked_ = now;
  if (first_asked == 0) first_asked = now;
  return now - std::max(first_asked, back_since_) > timeout_;
}

}  // namespace gpusizer
