// SPDX-License-Identifier: Apache-2.0
// The nine things that can be said of a figure, and everything that was looked at to say it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/record/kinds.hpp"

namespace gpusizer::ci {

enum class Verdict {
  improved, regressed, unchanged,
  ambiguous,          // something moved or is doubtful, and this evidence cannot tell
  fresh,              // "new": there is nothing to compare with
  missing,            // it was in the base and is not in the new set
  insufficient_data,  // too few runs to tell a change from noise
  incomparable,       // unit, direction, workload or hardware differ
  failed,             // the case failed or its figure is none
};

std::string_view word_of(Verdict verdict);  // "improved", ..., "new" for fresh
std::optional<Verdict> verdict_named(std::string_view word);
constexpr Verdict all_verdicts[] = {Verdict::fresh,     Verdict::missing,   Verdict::failed,
                                    Verdict::incomparable, Verdict::regressed, Verdict::ambiguous,
                                    Verdict::insufficient_data, Verdict::improved, Verdict::unchanged};

// One figure of one case. Shares are relative to the base: 0.03 is 3 % larger, whichever direction is better.
struct Judgement {
  std::string case_id, metric, renamed_from;  // renamed_from: the id in the base when it was another one
  std::string unit;
  record::Better better = record::Better::higher;
  record::Provenance provenance = record::Provenance::measured;
  bool gated = true;     // false: shown, never fails a build
  Verdict verdict = Verdict::insufficient_data;
  std::string reason;    // for machines: "too_few_runs", "below_floor", "state_throttle"
  std::string sentence;  // for people
  std::size_t base_runs = 0, new_runs = 0;
  std::optional<double> base_median, new_median;
  std::optional<double> change, change_low, change_high;  // with its 95 % interval
  std::optional<double> base_spread, new_spread;          // between runs, as a share
  std::optional<double> within_spread;                    // half width within a run, as a share (median of the runs)
  std::optional<double> t, p, rank_p;                     // p: one-sided, in the direction of the change
  std::optional<double> smallest_visible;                 // share: the smallest true change that would have been called
  double min_change = 0.01;                               // share: smaller changes are none
  bool triage = false;                                    // stands at a false discovery rate of 5 %: worth a look
};

struct WordDifference {
  std::string name;
  std::vector<std::string> base, fresh;  // the words of each side, sorted; empty: not there
};

struct Comparison {
  std::vector<Judgement> judgements;           // by case and metric
  std::vector<WordDifference> environment;     // what differs between the machines and libraries of both sides
  std::vector<std::string> notes;              // sentences: files that were left out, figures that are not judged
  std::string fleet_shift;                     // a sentence when half of everything moved together; else empty
  bool environment_to_blame = false;           // and the environment differs: none of it counts as a regression
  std::size_t base_reports = 0, new_reports = 0;
  std::vector<std::string> missing_required;   // patterns of --require that no new figure with a value matched
};

std::size_t count_of(const Comparison& comparison, Verdict verdict, bool gated_only = false);

}  // namespace gpusizer::ci
