// SPDX-License-Identifier: Apache-2.0
// How far apart the dates of a series are: the usual step, the season that goes with it, and the gaps.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace gpusizer {

// Rows are taken as neighbours even across a gap: nothing is put in.
struct TimeStep {
  std::string name;          // "1 hour", "1 month", "1 business day"; "irregular" when most steps differ
  int64_t season = 0;        // steps after which a series like this tends to repeat; 0: not known
  int64_t gaps = 0;          // steps longer than usual
  int64_t shorter = 0;       // steps shorter than usual
  int64_t longest_us = 0;    // of the gaps
  std::string text() const;  // "steps of 1 hour, 1 gap (of 2 hours)"
};

// `dates_us` ascend. Seasons: a day of steps below one day (24 of an hour), 7 days, 5 business days, 52 weeks,
// 12 months, 4 quarters.
TimeStep find_time_step(std::span<const int64_t> dates_us);

}  // namespace gpusizer
