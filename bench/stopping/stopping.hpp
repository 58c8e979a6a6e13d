// SPDX-License-Identifier: Apache-2.0
// "Enough samples?": is fed one step time after another and says when the mean is known well enough. Owns no clock.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/stopping/groups.hpp"
#include "bench/stopping/steady_state.hpp"

namespace gpusizer {

struct StoppingOptions {
  double precision_target = 0.02;   // stop when the 95 % half-width is within this part of the mean
  std::int64_t fixed_warm_up = 1;   // leading steps that never count
  std::int64_t first_check = 50;    // steps after the fixed warm-up
  std::int64_t slow_first_check = 30;
  double slow_step_seconds = 2.0;   // the median step above which the slow first check applies
};

enum class Verdict { keep_going, precise, no_steady_state };

// Looks only at a fixed grid of sample counts (50, then always a quarter more): looking after every step would stop at
// the luckiest moment and claim too narrow an interval. A run whose warm-up cut still lies at the limit of its search
// after three doublings has no steady state.
class Stopping {
 public:
  explicit Stopping(StoppingOptions options) : options_(options), next_check_(options.first_check) {}

  // Takes the next step's seconds (finite, >= 0; std::invalid_argument otherwise) and its kind, see groups.hpp.
  Verdict add(double step_seconds, std::int64_t group = 0);

  const std::vector<double>& step_seconds() const { return step_seconds_; }
  SteadyState state() const { return find_steady_state(level_groups(step_seconds_, groups_), options_.fixed_warm_up); }

 private:
  bool due(std::int64_t counted) const;
  Verdict check(std::int64_t counted);

  StoppingOptions options_;
  std::int64_t next_check_;
  std::int64_t unsteady_since_ = 0;  // sample count of the first check in a row that found no end of the warm-up
  std::vector<double> step_seconds_;
  std::vector<std::int64_t> groups_;  // of each step
};

// The grid: max(n + 1, ceil(1.25 n)).
std::int64_t next_check_after(std::int64_t samples);

}  // namespace gpusizer
