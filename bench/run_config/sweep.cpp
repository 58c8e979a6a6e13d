// SPDX-License-Identifier: Apache-2.0
// Reads sweeps and multiplies them out.
#include "bench/run_config/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bench/run_config/check_parallel.hpp"
#include "bench/run_config/model_flags.hpp"
#include "cloud/catalog/nearest_names.hpp"
#include "gpusizer/error.hpp"

namespace gpusizer {
namespace {

constexpr std::size_t kMostCases = 1000;
constexpr const char* kSweepHint = "write --sweep devices=1,2,4";

// What a case's id shows anyway.
constexpr std::string_view kShown[] = {
    "model",      "mode",     "data",        "device",  "batch",     "precision",       "buckets",      "columns",
    "targets",    "rows",     "target-base", "rate",    "prune",     "accumulate",      "threads",      "devices",
    "parallel",   "stages",   "recompute",   "wire",    "local-sgd", "async-staleness", "inject-fault", "pipeline-schedule",
    "bucket-mib", "norm-group", "shard-optimizer", "sync-batch-norm"};

bool is_shown(const Setting& setting) {
  return std::ranges::find(kShown, setting.name) != std::end(kShown) || shapes_program(setting.name);
}

[[noreturn]] void refuse_sweep(const std::string& what, const std::string& hint) {
  throw Error(Fault::usage, what, "--sweep", hint);
}

std::vector<std::string> values_in(const std::string& text) {
  const char separator = text.find(';') == std::string::npos ? ',' : ';';
  std::vector<std::string> values{""};
  for (const char c : text) {
    if (c == separator) values.emplace_back();
    else values.back() += c;
  }
  return values;
}

const Setting& setting_of(const std::string& key) {
  if (const Setting* const setting = find_setting(key)) return *setting;
  std::vector<std::string> known;
  for (const Setting& setting : settings()) known.emplace_back(setting.name);
  const auto near = cloud::nearest_names(key, known, 1);
  refuse_sweep(fmt::format("there is no setting '{}'", key),
               near.empty() ? kSweepHint : fmt::format("did you mean {}?", near.front()));
}

void add_words(CaseConfig& config, const Sweep& sweep, std::size_t i) {
  if (!is_shown(*sweep.setting)) config.sweep_words += fmt::format("/{}:{}", sweep.setting->name, sweep.texts[i]);
}

void tell_the_largest(std::vector<CaseConfig>& cases) {
  std::int64_t largest = 0;
  for (CaseConfig& config : cases) {
    resolve_layout(config.parallel);
    largest = std::max(largest, config.parallel.ranks());
  }
  for (CaseConfig& config : cases) config.parallel.ranks_of_largest = largest;
}

}  // namespace

const Setting* find_setting(const std::string& key) {
  const auto fits = [&](const Setting& setting) { return setting.name == key || key_of(setting) == key; };
  const auto found = std::ranges::find_if(settings(), fits);
  return found == settings().end() ? nullptr : &*found;
}

Sweep read_sweep(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) refuse_sweep(fmt::format("'{}' is no sweep", text), kSweepHint);
  Sweep sweep{.setting = &setting_of(text.substr(0, equals)), .values = {}, .texts = values_in(text.substr(equals + 1))};
  for (std::size_t i = 0; i < sweep.texts.size(); ++i) {
    const std::string& one = sweep.texts[i];
    if (std::find(sweep.texts.begin(), sweep.texts.begin() + static_cast<std::ptrdiff_t>(i), one) !=
        sweep.texts.begin() + static_cast<std::ptrdiff_t>(i))
      refuse_sweep(fmt::format("'{}' is given twice for {}", one, sweep.setting->name), "keep one of them");
    if (one.empty()) refuse_sweep(fmt::format("'{}' has an empty value", text), kSweepHint);
    sweep.values.push_back(parse_setting(*sweep.setting, one));
  }
  return sweep;
}

std::vector<CaseConfig> expand(const SweptCase& swept) {
  std::vector<CaseConfig> cases{swept.config};
  for (const Sweep& sweep : swept.sweeps) {
    if (cases.size() * sweep.values.size() > kMostCases)
      refuse_sweep(fmt::format("the sweep has more than {} cases", kMostCases), "sweep fewer values");
    std::vector<CaseConfig> more;
    for (const CaseConfig& config : cases)
      for (std::size_t i = 0; i < sweep.values.size(); ++i) {
        sweep.setting->set(more.emplace_back(config), sweep.values[i]);
        add_words(more.back(), sweep, i);
      }
    cases = std::move(more);
  }
  if (!swept.sweeps.empty()) tell_the_largest(cases);
  return cases;
}

}  // namespace gpusizer
