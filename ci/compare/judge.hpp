// SPDX-License-Identifier: Apache-2.0
// One figure on both sides -> its judgement. Used by compare() only.
#pragma once

#include <vector>

#include "ci/compare/readings.hpp"
#include "ci/compare/rules.hpp"
#include "ci/compare/verdict.hpp"

namespace gpusizer::ci {

// A figure that both sides may have; an empty side: it is not there.
struct Pair {
  std::string case_id, metric, base_metric;
  std::vector<Reading> base, fresh;
  bool base_is_empty = false;       // the whole base has no case at all
  const CaseRuns* base_case = nullptr;
  const CaseRuns* fresh_case = nullptr;
};

Judgement judge(const Pair& pair, const Ruling& ruling);

}  // namespace gpusizer::ci
