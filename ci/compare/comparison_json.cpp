// SPDX-License-Identifier: Apache-2.0
// A comparison as JSON.
#include <cmath>
#include <nlohmann/json.hpp>

#include "ci/compare/comparison_text.hpp"

namespace gpusizer::ci {
namespace {

using Json = nlohmann::ordered_json;

Json number(const std::optional<double>& value) { return value && std::isfinite(*value) ? Json(*value) : Json(nullptr); }

Json json_of(const Judgement& j) {
  return {{"case", j.case_id}, {"metric", j.metric}, {"renamed_from", j.renamed_from.empty() ? Json(nullptr) : Json(j.renamed_from)},
          {"unit", j.unit}, {"better", record::to_word(j.better)}, {"provenance", record::to_word(j.provenance)},
          {"gated", j.gated}, {"verdict", word_of(j.verdict)}, {"reason", j.reason}, {"sentence", j.sentence},
          {"base_runs", j.base_runs}, {"new_runs", j.new_runs}, {"base_median", number(j.base_median)},
          {"new_median", number(j.new_median)}, {"change", number(j.change)}, {"change_low", number(j.change_low)},
          {"change_high", number(j.change_high)}, {"base_spread", number(j.base_spread)}, {"new_spread", number(j.new_spread)},
          {"within_spread", number(j.within_spread)}, {"t", number(j.t)}, {"p", number(j.p)}, {"rank_p", number(j.rank_p)},
          {"smallest_visible", number(j.smallest_visible)}, {"min_change", j.min_change}, {"triage", j.triage}};
}

}  // namespace

std::string comparison_json(const Comparison& comparison, int exit_code) {
  Json counts = Json::object(), environment = Json::array(), judgements = Json::array();
  for (const Verdict verdict : all_verdicts) counts[std::string(word_of(verdict))] = count_of(comparison, verdict);
  for (const WordDifference& word : comparison.environment)
    environment.push_back({{"name", word.name}, {"base", word.base}, {"new", word.fresh}});
  for (const Judgement& j : comparison.judgements) judgements.push_back(json_of(j));
  const Json tree = {{"schema", "gpusizer.comparison/1"}, {"exit_code", exit_code}, {"base_reports", comparison.base_reports},
                     {"new_reports", comparison.new_reports}, {"counts", counts},
                     {"fleet_shift", comparison.fleet_shift.empty() ? Json(nullptr) : Json(comparison.fleet_shift)},
                     {"environment_to_blame", comparison.environment_to_blame}, {"environment", environment},
                     {"missing_required", comparison.missing_required}, {"notes", comparison.notes}, {"figures", judgements}};
  return tree.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace gpusizer::ci
