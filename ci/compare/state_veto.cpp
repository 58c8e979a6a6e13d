// SPDX-License-Identifier: Apache-2.0
// Reads the words of the state; what it does not know is no doubt.
#include "ci/compare/state_veto.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>

#include "reports/record/statistics.hpp"

namespace gpusizer::ci {
namespace {

constexpr double kBusyShare = 0.10;    // of the machine's processor time used by others
constexpr double kClockShare = 0.03;

using Runs = std::vector<const record::Case*>;

std::optional<double> number_in(const std::string& text) {
  double value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || !std::isfinite(value)) return std::nullopt;
  return value;
}

bool has(const std::string& name, const char* part) { return name.find(part) != std::string::npos; }

bool says_something(const std::string& word) {
  if (const auto number = number_in(word)) return *number > 0;
  return !word.empty() && word != "no" && word != "none" && word != "false" && word != "not active" && word != "off";
}

// The doubt that one word of the state raises; empty when none.
std::string doubt_of(const std::string& name, const std::string& word) {
  const auto number = number_in(word);
  if (has(name, "throttle")) return says_something(word) ? "state_throttle" : "";
  if (has(name, "ecc")) return number && *number > 0 ? "state_ecc" : "";
  if (has(name, "other_processes")) return number && *number > 0 ? "state_other_processes" : "";
  if (has(name, "other_cpu_share")) return number && *number > kBusyShare ? "state_busy" : "";
  return "";
}

std::string doubt_of_flag(const std::string& id) {
  if (has(id, "throttl")) return "state_throttle";
  if (has(id, "ecc")) return "state_ecc";
  if (has(id, "other_process")) return "state_other_processes";
  return id == "busy_machine" ? "state_busy" : "";
}

// Every doubt about a run, with the words that raised it.
std::map<std::string, std::string> doubts_of(const record::Case& run) {
  std::map<std::string, std::string> doubts;
  for (const auto& [name, word] : run.fingerprint.state)
    if (const std::string doubt = doubt_of(name, word); !doubt.empty()) doubts.emplace(doubt, name + "=" + word);
  for (const record::ValidityFlag& flag : run.validity_flags)
    if (const std::string doubt = doubt_of_flag(flag.id); !doubt.empty()) doubts.emplace(doubt, flag.id);
  return doubts;
}

Veto doubted_side(const Runs& runs, const char* side) {
  std::map<std::string, std::pair<std::size_t, std::string>> counts;
  for (const record::Case* run : runs)
    for (const auto& [doubt, words] : doubts_of(*run)) {
      auto& [count, example] = counts[doubt];
      ++count;
      if (example.empty() || words < example) example = words;
    }
  for (const auto& [doubt, entry] : counts)
    if (2 * entry.first >= runs.size())
      return {doubt, fmt::format("the machine of {} was not itself in {} of {} runs ({})", side, entry.first, runs.size(), entry.second)};
  return {};
}

std::map<std::string, std::vector<double>> clocks_of(const Runs& runs) {
  std::map<std::string, std::vector<double>> clocks;
  for (const record::Case* run : runs)
    for (const auto& [name, word] : run->fingerprint.state)
      if (const auto number = number_in(word); number && *number > 0 && has(name, "clock") && !has(name, "throttle"))
        clocks[name].push_back(*number);
  return clocks;
}

Veto other_clocks(const Runs& base, const Runs& fresh) {
  const auto before = clocks_of(base), after = clocks_of(fresh);
  for (const auto& [name, values] : before) {
    const auto found = after.find(name);
    if (found == after.end()) continue;
    const double from = record::median(values), to = record::median(found->second);
    if (std::abs(to / from - 1) > kClockShare)
      return {"state_clocks", fmt::format("the clocks differ by {:+.1f} % ({} was {:g}, is {:g})", 100 * (to / from - 1), name, from, to)};
  }
  return {};
}

}  // namespace

Veto veto_by_state(const Runs& base, const Runs& fresh) {
  if (base.empty() || fresh.empty()) return {};
  if (const Veto veto = doubted_side(fresh, "the new runs"); !veto.reason.empty()) return veto;
  if (const Veto veto = doubted_side(base, "the base"); !veto.reason.empty()) return veto;
  return other_clocks(base, fresh);
}

}  // namespace gpusizer::ci
