// SPDX-License-Identifier: Apache-2.0
// Counts what moved, and takes the environment's blame.
#include "ci/compare/fleet_shift.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gpusizer::ci {
namespace {

constexpr std::size_t kFewest = 3;

bool is_judged(const Judgement& j) {
  return j.gated && j.change &&
         (j.verdict == Verdict::regressed || j.verdict == Verdict::improved || j.verdict == Verdict::unchanged ||
          j.verdict == Verdict::ambiguous || j.verdict == Verdict::insufficient_data);
}

}  // namespace

void find_fleet_shift(Comparison& comparison) {
  auto& all = comparison.judgements;
  const auto judged = static_cast<std::size_t>(std::count_if(all.begin(), all.end(), is_judged));
  for (const Verdict moved : {Verdict::regressed, Verdict::improved}) {
    const std::size_t count = count_of(comparison, moved, true);
    if (judged < kFewest || 2 * count < judged) continue;
    comparison.environment_to_blame = !comparison.environment.empty();
    comparison.fleet_shift = fmt::format(
        "{} of {} figures {} together: {}.", count, judged, word_of(moved),
        comparison.environment_to_blame ? "the environment changed, and not only the code"
                                        : "no difference of the environment is recorded; suspect the machine, or a change that touches everything");
    if (!comparison.environment_to_blame) return;
    for (Judgement& j : all) {
      if (j.verdict != moved) continue;
      j.verdict = Verdict::ambiguous;
      j.reason = "fleet_shift";
      j.sentence += " Everything moved with it, and the environment changed.";
    }
    return;
  }
}

}  // namespace gpusizer::ci
