// SPDX-License-Identifier: Apache-2.0
// Puts warm-up cut, stall split and interval together.
#include "bench/stopping/steady_state.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reports/record/statistics.hpp"

namespace gpusizer {
namespace {

void fill_mean_step(SteadyState& state) {
  const double core = state.core->mean;
  const double extra = state.stalls.stalls > 0 ? state.stall_mean_seconds - core : 0.0;
  state.mean_step = MeanStep{.seconds = core + state.stalls.rate * extra,
                             .low = core - state.core->half_width + state.stalls.low * extra,
                             .high = core + state.core->half_width + state.stalls.high * extra};
}

}  // namespace

std::optional<double> SteadyState::relative_half_width() const {
  if (!core || core->mean <= 0) return std::nullopt;
  return core->relative();
}

SteadyState find_steady_state(std::span<const double> step_seconds, std::int64_t fixed_warm_up) {
  SteadyState state;
  state.steps_seen = static_cast<std::int64_t>(step_seconds.size());
  state.steps_discarded = std::min(fixed_warm_up, state.steps_seen);
  auto rest = step_seconds.subspan(static_cast<std::size_t>(state.steps_discarded));
  state.warm_up = mser5_cut(rest);
  state.steps_discarded += state.warm_up.steps;
  rest = rest.subspan(static_cast<std::size_t>(state.warm_up.steps));

  const auto split = split_stalls(rest);
  state.stalls = stall_rate(static_cast<std::int64_t>(split.stalls.size()), static_cast<std::int64_t>(rest.size()));
  state.stall_mean_seconds = split.stalls.empty() ? 0.0 : record::mean(split.stalls);
  state.core = mean_interval(split.core);
  if (!state.core) {
    state.reason = fmt::format("{} full steps after a warm-up of {} give no interval; at least 2 are needed",
                               rest.size(), state.steps_discarded);
  } else if (state.core->mean <= 0) {
    state.reason = "the clock saw no time pass during the steps";
  } else {
    fill_mean_step(state);
  }
  return state;
}

}  // namespace gpusizer
