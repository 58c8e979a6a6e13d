// SPDX-License-Identifier: Apache-2.0
// Matches the figures of two sets, judges each, then looks at all of them together.
#include "ci/compare/compare.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ci/compare/fleet_shift.hpp"
#include "ci/compare/glob.hpp"
#include "ci/compare/judge.hpp"
#include "ci/compare/readings.hpp"
#include "ci/evidence/corrections.hpp"
#include "gpusizer/error.hpp"

namespace gpusizer::ci {
namespace {

// The id under which the base has a figure of the new set: its own, one of its aliases, or one that has it as an alias.
std::string base_id_of(const CaseRuns& base, const std::vector<Reading>& fresh, const std::string& id) {
  if (base.metrics.contains(id)) return id;
  for (const Reading& reading : fresh)
    for (const std::string& alias : reading.metric.aliases)
      if (base.metrics.contains(alias)) return alias;
  for (const auto& [old, readings] : base.metrics)
    for (const Reading& reading : readings)
      if (std::count(reading.metric.aliases.begin(), reading.metric.aliases.end(), id)) return old;
  return "";
}

void add_pairs(const std::string& case_id, const CaseRuns* base, const CaseRuns* fresh, bool base_is_empty, std::vector<Pair>& pairs) {
  std::set<std::string> taken;
  if (fresh)
    for (const auto& [id, readings] : fresh->metrics) {
      Pair pair{.case_id = case_id, .metric = id, .fresh = readings, .base_is_empty = base_is_empty, .base_case = base, .fresh_case = fresh};
      pair.base_metric = base ? base_id_of(*base, readings, id) : "";
      if (!pair.base_metric.empty()) pair.base = base->metrics.at(pair.base_metric);
      taken.insert(pair.base_metric);
      pairs.push_back(std::move(pair));
    }
  if (base)
    for (const auto& [id, readings] : base->metrics)
      if (!taken.contains(id))
        pairs.push_back({.case_id = case_id, .metric = id, .base_metric = id, .base = readings, .base_case = base, .fresh_case = fresh});
}

// A case without any figure would be silent: what became of it stands under the name "throughput".
void add_bare_case(const std::string& case_id, const CaseRuns& runs, const CaseRuns* base, std::vector<Pair>& pairs) {
  record::Metric metric{.id = "throughput", .null_reason = runs.runs.front()->throughput.null_reason, .unit = runs.runs.front()->throughput.unit};
  Pair pair{.case_id = case_id, .metric = metric.id, .base_metric = metric.id, .base_case = base, .fresh_case = &runs};
  for (const record::Case* run : runs.runs) pair.fresh.push_back({run, metric});
  if (base && base->metrics.contains(metric.id)) pair.base = base->metrics.at(metric.id);
  pairs.push_back(std::move(pair));
}

std::vector<Pair> pairs_of(const Side& base, const Side& fresh) {
  std::vector<Pair> pairs;
  std::set<std::string> ids;
  for (const Side* side : {&base, &fresh})
    for (const auto& [id, runs] : side->cases) ids.insert(id);
  for (const std::string& id : ids) {
    const auto old = base.cases.find(id), now = fresh.cases.find(id);
    const CaseRuns* before = old == base.cases.end() ? nullptr : &old->second;
    const CaseRuns* after = now == fresh.cases.end() ? nullptr : &now->second;
    if (after && after->metrics.empty() && !(before && before->metrics.contains("throughput"))) add_bare_case(id, *after, before, pairs);
    add_pairs(id, before, after, base.cases.empty(), pairs);
  }
  std::sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) { return std::tie(a.case_id, a.metric) < std::tie(b.case_id, b.metric); });
  return pairs;
}

void refuse_idle_rules(const Rules& rules, const std::vector<Pair>& pairs) {
  for (std::size_t i = rules.built_in; i < rules.rules.size(); ++i) {
    const Rule& rule = rules.rules[i];
    const bool used = std::any_of(pairs.begin(), pairs.end(), [&](const Pair& pair) {
      return matches(rule.case_pattern, pair.case_id) && (matches(rule.metric_pattern, pair.metric) || matches(rule.metric_pattern, pair.base_metric));
    });
    if (!used)
      throw Error(Fault::usage, "a rule matches no figure of either set",
                  fmt::format("rules/{}: case {}, metric {}", i - rules.built_in, rule.case_pattern, rule.metric_pattern),
                  "correct its patterns or remove it");
  }
}

std::vector<WordDifference> environment_differences(const Side& base, const Side& fresh) {
  Words before, after;
  for (const auto& [side, words] : {std::pair{&base, &before}, std::pair{&fresh, &after}})
    for (const auto& [id, runs] : side->cases)
      for (const record::Case* run : runs.runs) add_words(*words, run->fingerprint.environment);
  std::set<std::string> names;
  for (const Words* words : {&before, &after})
    for (const auto& [name, values] : *words) names.insert(name);
  std::vector<WordDifference> differences;
  if (before.empty() || after.empty()) return differences;
  for (const std::string& name : names)
    if (before[name] != after[name])
      differences.push_back({name, {before[name].begin(), before[name].end()}, {after[name].begin(), after[name].end()}});
  return differences;
}

// Among many gated figures a call must also stand when all of them were looked at (Holm at 5 % for all together).
void correct_for_many(std::vector<Judgement>& judgements) {
  std::vector<double> p;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < judgements.size(); ++i)
    if (judgements[i].p && judgements[i].gated) p.push_back(*judgements[i].p), places.push_back(i);
  const auto blocks = holm(p, 0.05), looks = benjamini_hochberg(p, 0.05);
  for (std::size_t k = 0; k < places.size(); ++k) {
    Judgement& j = judgements[places[k]];
    j.triage = looks[k];
    if (blocks[k] || (j.reason != "evidence" && j.reason != "clear_at_once")) continue;
    j.verdict = Verdict::ambiguous;
    j.reason = "many_figures";
    j.sentence += fmt::format(" Among {} figures one such is expected by chance.", p.size());
  }
}

void note_copies(const Side& base, const Side& fresh, Comparison& comparison) {
  if (base.copies + fresh.copies == 0) return;
  comparison.notes.push_back(fmt::format("{} of the records were copies of others and count once: a run that is read twice is not two runs.",
                                         base.copies + fresh.copies));
}

void note_required(const Rules& rules, Comparison& comparison) {
  for (const std::string& pattern : rules.require) {
    const bool found = std::any_of(comparison.judgements.begin(), comparison.judgements.end(), [&](const Judgement& j) {
      return j.new_median && matches(pattern, j.case_id + ":" + j.metric);
    });
    if (!found) comparison.missing_required.push_back(pattern);
  }
}

}  // namespace

Comparison compare(const std::vector<record::Report>& base_reports, const std::vector<record::Report>& fresh_reports, const Rules& rules) {
  Comparison comparison{.base_reports = base_reports.size(), .new_reports = fresh_reports.size()};
  const Side base = side_of(base_reports), fresh = side_of(fresh_reports);
  const std::vector<Pair> pairs = pairs_of(base, fresh);
  refuse_idle_rules(rules, pairs);
  std::set<std::string> unjudged;
  for (const Pair& pair : pairs) {
    const Ruling ruling = ruling_for(rules, pair.case_id, pair.metric);
    if (ruling.use == Use::state) unjudged.insert(pair.metric);
    else comparison.judgements.push_back(judge(pair, ruling));
  }
  correct_for_many(comparison.judgements);
  comparison.environment = environment_differences(base, fresh);
  find_fleet_shift(comparison);
  note_copies(base, fresh, comparison);
  for (const std::string& metric : unjudged)
    comparison.notes.push_back(fmt::format("{} describes the machine and is not judged.", metric));
  note_required(rules, comparison);
  return comparison;
}

int exit_code_of(const Comparison& comparison, const Rules& rules, bool warn_only) {
  const auto& all = comparison.judgements;
  const auto has_value = [](const Judgement& j) { return j.new_median.has_value(); };
  const auto fails = [&](const Judgement& j) {
    return j.gated && std::count(rules.fail_on.begin(), rules.fail_on.end(), j.verdict) > 0;
  };
  if (count_of(comparison, Verdict::failed, true) > 0 || !comparison.missing_required.empty()) return 4;
  if (std::none_of(all.begin(), all.end(), has_value) && count_of(comparison, Verdict::unchanged) == 0) return 4;
  if (std::any_of(all.begin(), all.end(), fails)) return warn_only ? 0 : 1;
  const auto nothing = [](const Judgement& j) {
    return j.verdict == Verdict::incomparable || j.verdict == Verdict::missing || j.verdict == Verdict::fresh;
  };
  if (count_of(comparison, Verdict::incomparable) > 0 && std::all_of(all.begin(), all.end(), nothing)) return 3;
  return 0;
}

}  // namespace gpusizer::ci
