// SPDX-License-Identifier: Apache-2.0
// Numbers of the base and of the new runs -> a verdict: a practical threshold and statistical evidence, both.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "ci/compare/verdict.hpp"
#include "reports/record/kinds.hpp"

namespace gpusizer::ci {

struct Thresholds {
  double min_change = 0.01;   // share; a smaller change is none
  double hard_limit = 0.25;   // share; a larger one is called with any number of runs
  double alpha = 0.001;       // one-sided level at which a change is called
  double suspicion = 0.20;    // one-sided: a single run that is no more surprising than this passes at once
  std::size_t history = 10;   // base runs from which the noise of the base stands alone
};

struct RunValues {
  std::span<const double> base, fresh;  // one number per run
  double within = 0;                    // typical half width (95 %) within a run, as a share; 0: not known
  record::Better better = record::Better::higher;
  bool logarithmic = true;              // all values are above 0: changes are quotients. Else differences / |base median|
};

// Fills verdict, reason, the statistics and the medians of `judgement`; `sentence` is left to sentence_for().
//
//   base >= 10 runs: the staged test. One new run passes at p >= 0.20; a suspicious one asks for four more and is
//     called alone only at p < 1e-5. Two and more are called at p < alpha (3e-4 where the base has outliers beyond
//     4 MAD) when mean and median both moved by more than min_change.
//   4 to 9 base runs and 4 or more new ones: the same with the noise of both sides together.
//   fewer: insufficient_data, except that more than hard_limit is called.
void decide(const RunValues& values, const Thresholds& thresholds, Judgement& judgement);

}  // namespace gpusizer::ci
