// SPDX-License-Identifier: Apache-2.0
// Words of the verdicts.
#include "ci/compare/verdict.hpp"

#include <algorithm>

namespace gpusizer::ci {

std::string_view word_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::improved: return "improved";
    case Verdict::regressed: return "regressed";
    case Verdict::unchanged: return "unchanged";
    case Verdict::ambiguous: return "ambiguous";
    case Verdict::fresh: return "new";
    case Verdict::missing: return "missing";
    case Verdict::insufficient_data: return "insufficient_data";
    case Verdict::incomparable: return "incomparable";
    case Verdict::failed: return "failed";
  }
  return "ambiguous";
}

std::optional<Verdict> verdict_named(std::string_view word) {
  for (const Verdict verdict : all_verdicts)
    if (word_of(verdict) == word) return verdict;
  return std::nullopt;
}

std::size_t count_of(const Comparison& comparison, Verdict verdict, bool gated_only) {
  return static_cast<std::size_t>(
      std::count_if(comparison.judgements.begin(), comparison.judgements.end(),
                    [&](const Judgement& j) { return j.verdict == verdict && (j.gated || !gated_only); }));
}

}  // namespace gpusizer::ci
