// SPDX-License-Identifier: Apache-2.0
// What a series of step times says about the steady state: warm-up cut, stalls set apart, mean with its interval.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "bench/stopping/interval.hpp"
#include "bench/stopping/stalls.hpp"
#include "bench/stopping/warm_up.hpp"

namespace gpusizer {

struct MeanStep {
  double seconds = 0;
  double low = 0, high = 0;  // 95 %; low may be <= 0 when a handful of steps say next to nothing
};

struct SteadyState {
  std::int64_t steps_seen = 0;
  std::int64_t steps_discarded = 0;  // always the first `fixed_warm_up`, and what MSER-5 cut after them
  WarmUpCut warm_up;
  std::optional<MeanInterval> core;  // of the steps that are neither warm-up nor stalls
  StallRate stalls;
  double stall_mean_seconds = 0;  // 0 without stalls
  // Mean of all steps after the warm-up, stalls included: m_c + p (m_s - m_c). Its limits add those of the core and of
  // the stall rate, which is never narrower than 95 %:
  //   low = m_c - h_c + p_low (m_s - m_c),  high = m_c + h_c + p_high (m_s - m_c)
  std::optional<MeanStep> mean_step;
  std::string reason;  // why there is no mean or no interval; empty when there is one

  // h_c / m_c; nothing without an interval.
  std::optional<double> relative_half_width() const;
};

// `step_seconds` are finite and not negative. The first `fixed_warm_up` steps never count: the first one allocates.
SteadyState find_steady_state(std::span<const double> step_seconds, std::int64_t fixed_warm_up);

}  // namespace gpusizer
