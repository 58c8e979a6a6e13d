// SPDX-License-Identifier: Apache-2.0
// The questions in their order: is it there, did it run, is it the same thing, is it a number, did it change, was the machine itself.
#include "ci/compare/judge.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ci/compare/sentences.hpp"
#include "ci/compare/state_veto.hpp"
#include "reports/record/statistics.hpp"

namespace gpusizer::ci {
namespace {

using record::CaseStatus;

bool say(Judgement& j, Verdict verdict, std::string reason, std::string sentence) {
  j.verdict = verdict;
  j.reason = std::move(reason);
  j.sentence = std::move(sentence);
  return true;
}

bool is_failure(CaseStatus status) {
  return status == CaseStatus::failed || status == CaseStatus::oom || status == CaseStatus::invalid;
}

// The worst thing that happened to the new runs of the case, if anything did.
bool judge_failures(const Pair& pair, Judgement& j) {
  if (!pair.fresh_case) return false;
  const auto& runs = pair.fresh_case->runs;
  for (const record::Case* run : runs)
    if (is_failure(run->status))
      return say(j, Verdict::failed, "case_" + record::to_word(run->status),
                 fmt::format("The case ended as {} in {} of {} new runs: {}.", record::to_word(run->status),
                             std::count_if(runs.begin(), runs.end(), [](auto* r) { return is_failure(r->status); }),
                             runs.size(), run->reason));
  const auto unfinished = [](const record::Case* run) { return run->status != CaseStatus::ok; };
  if (!std::all_of(runs.begin(), runs.end(), unfinished)) return false;
  const std::string word = record::to_word(runs.front()->status);
  return say(j, Verdict::missing, "case_" + word, fmt::format("The case was {} in the new set: {}.", word, runs.front()->reason));
}

bool judge_presence(const Pair& pair, Judgement& j) {
  if (pair.fresh.empty())
    return say(j, Verdict::missing, pair.fresh_case ? "metric_vanished" : "case_vanished",
               pair.fresh_case ? "The new runs of the case do not have this figure." : "The new set does not have this case.");
  if (!pair.base.empty()) return false;
  if (pair.base_is_empty) return say(j, Verdict::fresh, "no_baseline", "There is no baseline yet.");
  return say(j, Verdict::fresh, pair.base_case ? "metric_not_in_base" : "case_not_in_base",
             pair.base_case ? "The base has the case without this figure." : "The base does not have this case.");
}

std::string differing(const record::StringMap& one, const record::StringMap& other) {
  std::string text;
  int count = 0;
  const auto note = [&](const std::string& name, const std::string& from, const std::string& to) {
    if (++count <= 4) text += fmt::format("{}{}: {} -> {}", text.empty() ? "" : ", ", name, from, to);
  };
  for (const auto& [name, word] : one) {
    const auto found = other.find(name);
    if (found == other.end()) note(name, word, "none");
    else if (found->second != word) note(name, word, found->second);
  }
  for (const auto& [name, word] : other)
    if (!one.contains(name)) note(name, "none", word);
  return count > 4 ? fmt::format("{} and {} more", text, count - 4) : text;
}

// Runs of another workload or hardware are no base for these.
bool judge_identity(Pair& pair, Judgement& j) {
  const auto& identity = pair.fresh.front().run->fingerprint.identity;
  const auto differs = [&](const Reading& r) { return r.run->fingerprint.identity != identity; };
  if (std::any_of(pair.fresh.begin(), pair.fresh.end(), differs))
    return say(j, Verdict::incomparable, "mixed_identities", "The new runs are not all of one workload on one hardware.");
  const Reading example = pair.base.front();
  std::erase_if(pair.base, differs);
  if (!pair.base.empty()) return false;
  return say(j, Verdict::incomparable, "identity_differs",
             "Workload or hardware differ: " + differing(example.run->fingerprint.identity, identity) + ".");
}

bool judge_meaning(const Pair& pair, Judgement& j) {
  for (const Reading& reading : pair.base) {
    const record::Metric &old = reading.metric, &now = pair.fresh.front().metric;
    if (old.unit != now.unit)
      return say(j, Verdict::incomparable, "unit_changed", fmt::format("The unit was {} and is {}.", old.unit, now.unit));
    if (old.better != now.better)
      return say(j, Verdict::incomparable, "direction_changed", "Which direction is better has changed.");
    if (old.scope != now.scope) return say(j, Verdict::incomparable, "scope_changed", "It was counted over something else.");
    if (old.provenance != now.provenance)
      return say(j, Verdict::incomparable, "provenance_changed", fmt::format("It was {} and is {}.", record::to_word(old.provenance),
                                                                             record::to_word(now.provenance)));
  }
  const auto& first = pair.fresh.front().metric;
  const auto alike = [&](const Reading& r) {
    return r.metric.unit == first.unit && r.metric.better == first.better && r.metric.provenance == first.provenance;
  };
  if (std::all_of(pair.fresh.begin(), pair.fresh.end(), alike)) return false;
  return say(j, Verdict::incomparable, "mixed_meaning", "The new runs do not agree on its unit, direction or provenance.");
}

std::vector<double> values_of(const std::vector<Reading>& readings) {
  std::vector<double> values;
  for (const Reading& reading : readings)
    if (is_usable(reading)) values.push_back(*reading.metric.value);
  std::sort(values.begin(), values.end());
  return values;
}

bool judge_values(const Pair& pair, Judgement& j, const std::vector<double>& base, const std::vector<double>& fresh) {
  const record::Metric& first = pair.fresh.front().metric;
  const bool in_base = std::any_of(pair.base.begin(), pair.base.end(), [](const Reading& r) { return r.metric.value.has_value(); });
  const std::string why = first.null_reason.empty() ? "no reason was recorded" : first.null_reason;
  if (fresh.empty() && !pair.base.empty() && !in_base)
    return say(j, Verdict::insufficient_data, "no_value_on_both_sides", fmt::format("Neither side has a value: {}.", why));
  if (fresh.empty()) return say(j, Verdict::failed, "no_value", fmt::format("There is no value: {}.", why));
  if (must_be_positive(first.unit) && fresh.front() <= 0)
    return say(j, Verdict::failed, "not_positive", fmt::format("A value of {:g} {} cannot have been measured.", fresh.front(), first.unit));
  if (pair.base.empty()) return false;
  if (base.empty()) return say(j, Verdict::fresh, "base_without_value", "No run of the base has a value to compare with.");
  if (must_be_positive(first.unit) && base.front() <= 0)
    return say(j, Verdict::incomparable, "base_not_positive", fmt::format("The base says {:g} {}, which cannot have been measured.",
                                                                          base.front(), first.unit));
  if (record::median(base) != 0 || base.front() > 0) return false;
  if (base == fresh) return say(j, Verdict::unchanged, "equal_values", "");
  return say(j, Verdict::incomparable, "zero_base", "The base is 0: a change from it has no size in percent.");
}

double within_of(const std::vector<Reading>& readings) {
  std::vector<double> widths;
  for (const Reading& r : readings)
    if (is_usable(r) && r.metric.low && r.metric.high && *r.metric.value > 0)
      widths.push_back((*r.metric.high - *r.metric.low) / 2 / *r.metric.value);
  return widths.empty() ? 0 : record::median(widths);
}

std::vector<const record::Case*> usable_runs(const std::vector<Reading>& readings) {
  std::vector<const record::Case*> runs;
  for (const Reading& r : readings)
    if (is_usable(r)) runs.push_back(r.run);
  return runs;
}

void judge_change(const Pair& pair, const Ruling& ruling, Judgement& j, const std::vector<double>& base,
                  const std::vector<double>& fresh) {
  const RunValues values{.base = base, .fresh = fresh, .within = std::max(within_of(pair.base), within_of(pair.fresh)),
                         .better = j.better, .logarithmic = base.front() > 0 && fresh.front() > 0};
  decide(values, ruling.thresholds, j);
  j.sentence = sentence_for(j);
  const Veto veto = veto_by_state(usable_runs(pair.base), usable_runs(pair.fresh));
  if (veto.reason.empty() || (j.verdict != Verdict::regressed && j.verdict != Verdict::improved)) return;
  say(j, Verdict::ambiguous, veto.reason, fmt::format("{}, but {}.", j.sentence.substr(0, j.sentence.size() - 1), veto.sentence));
}

bool same_records(const Pair& pair) {
  if (!pair.base_case || !pair.fresh_case || pair.base_case->runs.size() != pair.fresh_case->runs.size()) return false;
  return std::all_of(pair.base_case->runs.begin(), pair.base_case->runs.end(), [&](const record::Case* run) {
    return std::any_of(pair.fresh_case->runs.begin(), pair.fresh_case->runs.end(), [&](const record::Case* r) { return *r == *run; });
  });
}

void fill_names(const Pair& pair, const Ruling& ruling, Judgement& j) {
  const record::Metric& metric = (pair.fresh.empty() ? pair.base : pair.fresh).front().metric;
  j.case_id = pair.case_id;
  j.metric = pair.metric;
  if (!pair.base.empty() && pair.base_metric != pair.metric) j.renamed_from = pair.base_metric;
  j.unit = metric.unit;
  j.better = metric.better;
  j.provenance = metric.provenance;
  j.gated = ruling.use == Use::gate;
  j.min_change = ruling.thresholds.min_change;
}

void fill_medians(Judgement& j, const std::vector<double>& base, const std::vector<double>& fresh) {
  j.base_runs = base.size();
  j.new_runs = fresh.size();
  if (!base.empty()) j.base_median = record::median(base);
  if (!fresh.empty()) j.new_median = record::median(fresh);
}

}  // namespace

Judgement judge(const Pair& given, const Ruling& ruling) {
  Judgement j;
  Pair pair = given;
  fill_names(pair, ruling, j);
  fill_medians(j, values_of(pair.base), values_of(pair.fresh));
  if (same_records(pair)) {
    if (j.base_median && j.new_median) j.change = 0.0;
    say(j, Verdict::unchanged, "same_record", "");
    j.sentence = sentence_for(j);
    return j;
  }
  if (judge_failures(pair, j) || (pair.fresh.empty() && judge_presence(pair, j))) return j;
  if (!pair.base.empty() && (judge_identity(pair, j) || judge_meaning(pair, j))) return j;
  const auto base = values_of(pair.base), fresh = values_of(pair.fresh);
  fill_medians(j, base, fresh);
  if (judge_values(pair, j, base, fresh)) {
    if (j.sentence.empty()) j.sentence = sentence_for(j);
    return j;
  }
  if (judge_presence(pair, j)) return j;
  judge_change(pair, ruling, j, base, fresh);
  return j;
}

}  // namespace gpusizer::ci
