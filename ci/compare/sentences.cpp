// SPDX-License-Identifier: Apache-2.0
// Sentences of the verdicts.
#include "ci/compare/sentences.hpp"

#include <fmt/format.h>

#include <cmath>

namespace gpusizer::ci {
namespace {

std::string runs_text(const Judgement& j) {
  return fmt::format("{} new run{} against {}", j.new_runs, j.new_runs == 1 ? "" : "s", j.base_runs);
}

std::string interval_text(const Judgement& j) {
  if (!j.change_low || !j.change_high) return "";
  return fmt::format(" (95 %: {} to {})", signed_percent(*j.change_low), signed_percent(*j.change_high));
}

std::string changed_text(const Judgement& j) {
  return fmt::format("{} changed by {}{}", j.metric, signed_percent(j.change.value_or(0), 2), interval_text(j));
}

std::string visible_text(const Judgement& j) {
  if (!j.smallest_visible) return "";
  return fmt::format("; the smallest change that would have been seen is {:.1f} %", 100 * *j.smallest_visible);
}

}  // namespace

std::string signed_percent(double share, int digits) {
  const std::string text = fmt::format("{:+.{}f} %", 100 * share, digits);
  return text.find_first_of("123456789") == std::string::npos ? text.substr(1) : text;  // no "-0.0 %"
}

std::string sentence_for(const Judgement& j) {
  const std::string better = j.better == record::Better::higher ? "higher" : "lower";
  if (j.reason == "evidence")
    return fmt::format("{}, {} is better: {}, p = {:.1e}.", changed_text(j), better, runs_text(j), j.p.value_or(0));
  if (j.reason == "clear_at_once")
    return fmt::format("{}, {} is better: beyond doubt already in {}, p = {:.1e}.", changed_text(j), better, runs_text(j),
                       j.p.value_or(0));
  if (j.reason == "hard_limit")
    return fmt::format("{}, {} is better: more than noise explains, though there are only {}.", changed_text(j), better, runs_text(j));
  if (j.reason == "needs_more_runs")
    return fmt::format("{} in one run, p = {:.2g}: 4 more runs of the same decide.", changed_text(j), j.p.value_or(1));
  if (j.reason == "weak_evidence")
    return fmt::format("{}, p = {:.2g}: too much for chance alone, too little to be called{}.", changed_text(j), j.p.value_or(1),
                       visible_text(j));
  if (j.reason == "too_few_runs")
    return fmt::format("{} in {}: too few runs to tell from noise, a base of 10 runs can; only more than {:.0f} % is called before.",
                       changed_text(j), runs_text(j), 100 * j.smallest_visible.value_or(0.25));
  if (j.reason == "equal_values") return "All runs have the very same value.";
  if (j.reason == "same_record") return "Both sides are the same record.";
  if (j.verdict == Verdict::unchanged) return fmt::format("{}, no change to speak of{}.", changed_text(j), visible_text(j));
  return j.sentence;
}

}  // namespace gpusizer::ci
