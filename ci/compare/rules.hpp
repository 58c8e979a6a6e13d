// SPDX-License-Identifier: Apache-2.0
// What is compared how strictly: the rules, built in and from a file.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ci/compare/decide.hpp"
#include "ci/compare/verdict.hpp"

namespace gpusizer::ci {

enum class Use {
  gate,   // judged; a regression fails the build
  track,  // judged and shown only
  state,  // describes the machine: not judged, may veto
};

struct Rule {
  std::string case_pattern = "*", metric_pattern = "*";
  std::optional<Use> use;
  std::optional<double> min_change, hard_limit;  // shares
};

struct Rules {
  Thresholds thresholds;
  std::vector<Rule> rules;             // later ones win; those of built_in_rules() come first
  std::size_t built_in = 0;            // how many of them are
  std::vector<std::string> require;    // patterns "CASE:METRIC" that some new figure with a value must match
  std::vector<Verdict> fail_on = {Verdict::regressed};
};

struct Ruling {
  Use use = Use::gate;
  Thresholds thresholds;
};

// Gated: everything but times of starting up and tails (p90, p95, p99, max), which are tracked, and what describes the
// machine (other_cpu_share).
Rules built_in_rules();

// A JSON file over the built-in rules:
//   {"version": 1, "min_change": 0.01, "hard_limit": 0.25, "alpha": 0.001, "fail_on": ["regressed", "missing"],
//    "require": ["resnet*:throughput"], "rules": [{"case": "*", "metric": "startup_*", "use": "track", "min_change": 0.05}]}
// Throws Error(usage) naming file and pointer for anything else.
Rules read_rules(const std::filesystem::path& path);

// Throws Error(usage) for a word that is no verdict. "regressed,missing"
std::vector<Verdict> parse_verdicts(std::string_view text, const std::string& where);

Ruling ruling_for(const Rules& rules, std::string_view case_id, std::string_view metric);

}  // namespace gpusizer::ci
