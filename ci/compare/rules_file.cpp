// SPDX-License-Identifier: Apache-2.0
// Reads rules strictly: a misspelt key would silently gate nothing.
#include <cmath>
#include <nlohmann/json.hpp>

#include "ci/compare/rules.hpp"
#include "gpusizer/error.hpp"
#include "reports/record/atomic_file.hpp"

namespace gpusizer::ci {
namespace {

using nlohmann::json;

constexpr std::size_t kLargestRules = 1u << 20u;

// One value of the file and where it is.
struct Node {
  const json& value;
  std::string where;

  [[noreturn]] void refuse(const std::string& what, const std::string& hint = "") const {
    throw Error(Fault::usage, what, where, hint);
  }
  double share(double most) const {
    if (!value.is_number() || !(value.get<double>() > 0) || !(value.get<double>() <= most))
      refuse("a share above 0 and not above " + std::to_string(most) + " was expected", "0.01 is one percent");
    return value.get<double>();
  }
  std::string text() const {
    if (!value.is_string() || value.get<std::string>().empty()) refuse("a text was expected");
    return value.get<std::string>();
  }
  template <class Visit>
  void each_key(Visit visit) const {
    if (!value.is_object()) refuse("an object was expected");
    for (const auto& [key, entry] : value.items()) visit(key, Node{entry, where + "/" + key});
  }
  template <class Visit>
  void each_entry(Visit visit) const {
    if (!value.is_array()) refuse("a list was expected");
    for (std::size_t i = 0; i < value.size(); ++i) visit(Node{value[i], where + "/" + std::to_string(i)});
  }
};

Use use_of(const Node& node) {
  const std::string word = node.text();
  if (word == "gate") return Use::gate;
  if (word == "track") return Use::track;
  if (word == "state") return Use::state;
  node.refuse("'" + word + "' is not a use of a figure", "use gate, track or state");
}

Rule rule_of(const Node& node) {
  Rule rule;
  node.each_key([&](const std::string& key, const Node& entry) {
    if (key == "case") rule.case_pattern = entry.text();
    else if (key == "metric") rule.metric_pattern = entry.text();
    else if (key == "use") rule.use = use_of(entry);
    else if (key == "min_change") rule.min_change = entry.share(10);
    else if (key == "hard_limit") rule.hard_limit = entry.share(10);
    else entry.refuse("a rule has no key '" + key + "'", "its keys are case, metric, use, min_change, hard_limit");
  });
  return rule;
}

void take(Rules& rules, const std::string& key, const Node& entry) {
  if (key == "version") {
    if (entry.value != 1) entry.refuse("these rules are of another version", "this program reads version 1");
  } else if (key == "min_change") {
    rules.thresholds.min_change = entry.share(10);
  } else if (key == "hard_limit") {
    rules.thresholds.hard_limit = entry.share(10);
  } else if (key == "alpha") {
    rules.thresholds.alpha = entry.share(0.05);
  } else if (key == "fail_on") {
    rules.fail_on.clear();
    entry.each_entry([&](const Node& word) { rules.fail_on.push_back(parse_verdicts(word.text(), word.where).front()); });
  } else if (key == "require") {
    entry.each_entry([&](const Node& word) { rules.require.push_back(word.text()); });
  } else if (key == "rules") {
    entry.each_entry([&](const Node& rule) { rules.rules.push_back(rule_of(rule)); });
  } else {
    entry.refuse("there is no rule key '" + key + "'",
                 "the keys are version, min_change, hard_limit, alpha, fail_on, require, rules");
  }
}

}  // namespace

Rules read_rules(const std::filesystem::path& path) {
  const std::string text = record::read_whole_file(path, kLargestRules);
  const json tree = json::parse(text, nullptr, false);
  const Node top{tree, path.string() + ", at "};
  if (tree.is_discarded()) throw Error(Fault::usage, "the rules are not JSON", path.string(), "see gpusizer compare --help");
  if (!tree.is_object() || !tree.contains("version")) top.refuse("the rules name no version", "begin with {\"version\": 1");
  Rules rules = built_in_rules();
  top.each_key([&](const std::string& key, const Node& entry) { take(rules, key, entry); });
  return rules;
}

}  // namespace gpusizer::ci
