// SPDX-License-Identifier: Apache-2.0
// The built-in rules, and which rule holds for a figure.
#include "ci/compare/rules.hpp"

#include "ci/compare/glob.hpp"
#include "gpusizer/error.hpp"

namespace gpusizer::ci {

Rules built_in_rules() {
  Rules rules;
  for (const char* tail : {"*p90*", "*p95*", "*p99*", "*max_*", "*longest*", "startup_seconds"})
    rules.rules.push_back({.metric_pattern = tail, .use = Use::track});
  rules.rules.push_back({.metric_pattern = "other_cpu_share", .use = Use::state});
  rules.built_in = rules.rules.size();
  return rules;
}

std::vector<Verdict> parse_verdicts(std::string_view text, const std::string& where) {
  std::vector<Verdict> verdicts;
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string word(text.substr(0, comma));
    const auto verdict = verdict_named(word);
    if (!verdict)
      throw Error(Fault::usage, "'" + word + "' is not a verdict", where,
                  "use some of improved, regressed, unchanged, ambiguous, new, missing, insufficient_data, incomparable, failed");
    verdicts.push_back(*verdict);
    if (comma == std::string_view::npos) return verdicts;
    text.remove_prefix(comma + 1);
  }
}

Ruling ruling_for(const Rules& rules, std::string_view case_id, std::string_view metric) {
  Ruling ruling{.thresholds = rules.thresholds};
  for (const Rule& rule : rules.rules) {
    if (!matches(rule.case_pattern, case_id) || !matches(rule.metric_pattern, metric)) continue;
    if (rule.use) ruling.use = *rule.use;
    if (rule.min_change) ruling.thresholds.min_change = *rule.min_change;
    if (rule.hard_limit) ruling.thresholds.hard_limit = *rule.hard_limit;
  }
  return ruling;
}

}  // namespace gpusizer::ci
