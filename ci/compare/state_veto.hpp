// SPDX-License-Identifier: Apache-2.0
// Runs on a machine that was not itself: throttled, busy, with other clocks or memory errors.
#pragma once

#include <string>
#include <vector>

#include "reports/record/record.hpp"

namespace gpusizer::ci {

struct Veto {
  std::string reason;    // "state_throttle", "state_clocks", "state_ecc", "state_other_processes", "state_busy"; empty: none
  std::string sentence;  // "the new runs were throttled (throttle_reasons=sw_thermal)"
};

// A side is doubted when at least half of its runs are. By the words of the fingerprint's state (names that contain
// "throttle", "ecc", "other_processes", "other_cpu_share" above 0.10) and the validity flags of the same meaning.
// Clocks (names with "clock") veto when the medians of both sides differ by more than 3 %.
Veto veto_by_state(const std::vector<const record::Case*>& base, const std::vector<const record::Case*>& fresh);

}  // namespace gpusizer::ci
