// SPDX-License-Identifier: Apache-2.0
// The check grid, and the two ways to be done.
#include "bench/stopping/stopping.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <stdexcept>

#include "reports/record/statistics.hpp"

namespace gpusizer {

constexpr std::int64_t kThreeDoublings = 8;

std::int64_t next_check_after(std::int64_t samples) {
  return std::max(samples + 1, (5 * samples + 3) / 4);  // ceil(1.25 n) in whole numbers
}

Verdict Stopping::add(double step_seconds, std::int64_t group) {
  if (!std::isfinite(step_seconds) || step_seconds < 0) throw std::invalid_argument("a step time is finite and >= 0");
  step_seconds_.push_back(step_seconds);
  groups_.push_back(group);
  const auto counted = static_cast<std::int64_t>(step_seconds_.size()) - options_.fixed_warm_up;
  return due(counted) ? check(counted) : Verdict::keep_going;
}

bool Stopping::due(std::int64_t counted) const {
  if (counted == next_check_) return true;
  if (counted != options_.slow_first_check || next_check_ != options_.first_check) return false;
  const auto measured = std::span(step_seconds_).subspan(static_cast<std::size_t>(options_.fixed_warm_up));
  return record::median(measured) > options_.slow_step_seconds;
}

Verdict Stopping::check(std::int64_t counted) {
  next_check_ = next_check_after(counted);
  const SteadyState now = state();
  if (now.warm_up.at_limit) {
    if (unsteady_since_ == 0) unsteady_since_ = counted;
    return counted >= kThreeDoublings * unsteady_since_ ? Verdict::no_steady_state : Verdict::keep_going;
  }
  unsteady_since_ = 0;
  const auto relative = now.relative_half_width();
  return relative && *relative <= options_.precision_target ? Verdict::precise : Verdict::keep_going;
}

}  // namespace gpusizer
