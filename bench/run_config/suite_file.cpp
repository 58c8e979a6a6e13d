// SPDX-License-Identifier: Apache-2.0
// Reads a suite from JSON, strictly: what is not understood is refused with its place.
#include "bench/run_config/suite_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "gpusizer/error.hpp"
#include "reports/record/atomic_file.hpp"

namespace gpusizer {
namespace {

using nlohmann::json;

constexpr std::size_t kLargestFile = 1 << 20;

[[noreturn]] void refuse(const std::string& what, const std::string& origin, const std::string& pointer,
                         const std::string& hint = "") {
  throw Error(Fault::usage, what, pointer.empty() ? origin : fmt::format("{} at {}", origin, pointer), hint);
}

// nlohmann/json keeps the last of two equal keys silently; a suite that says a thing twice is a mistake.
json parse_strictly(std::string_view text, const std::string& origin) {
  std::vector<std::set<std::string>> seen;
  const auto watch = [&](int, json::parse_event_t event, json& value) {
    if (event == json::parse_event_t::object_start) seen.emplace_back();
    if (event == json::parse_event_t::object_end) seen.pop_back();
    if (event == json::parse_event_t::key && !seen.back().insert(value.get<std::string>()).second)
      refuse(fmt::format("the key '{}' is given twice", value.get<std::string>()), origin, "", "keep one of them");
    return true;
  };
  try {
    return json::parse(text, watch);
  } catch (const json::parse_error& error) {
    refuse("the suite is not valid JSON", fmt::format("{}, byte {}", origin, error.byte), "", "correct it there");
  } catch (const json::out_of_range&) {
    refuse("the suite holds a number that is too large", origin, "", "write a smaller one");
  } catch (const json::exception&) {
    refuse("the suite cannot be read as JSON", origin, "", "correct it");
  }
}

const char* expected(SettingKind kind) {
  switch (kind) {
    case SettingKind::whole: return "a whole number";
    case SettingKind::number: return "a number";
    case SettingKind::word: return "a non-empty string";
    case SettingKind::on_off: return "true or false";
  }
  return "";
}

std::optional<SettingValue> read_value(const Setting& setting, const json& value) {
  switch (setting.kind) {
    case SettingKind::whole:
      if (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX) return std::nullopt;
      if (value.is_number_integer()) return value.get<std::int64_t>();
      break;
    case SettingKind::number:
      if (value.is_number() && std::isfinite(value.get<double>())) return value.get<double>();
      break;
    case SettingKind::word:
      if (value.is_string() && !value.get<std::string>().empty()) return value.get<std::string>();
      break;
    case SettingKind::on_off:
      if (value.is_boolean()) return value.get<bool>();
      break;
  }
  return std::nullopt;
}

const Setting& setting_at(const std::string& key, const std::string& origin, const std::string& place) {
  for (const Setting& setting : settings())
    if (key_of(setting) == key) return setting;
  refuse(fmt::format("unknown setting '{}'", key), origin, place, "see gpusizer run --help for all, with _ for -");
}

SettingValue value_at(const Setting& setting, const json& value, const std::string& origin, const std::string& place) {
  if (const auto parsed = read_value(setting, value)) return *parsed;
  refuse(fmt::format("'{}' must be {}", key_of(setting), expected(setting.kind)), origin, place);
}

// As a person would write it: a case's id is the same whether the sweep comes from a suite or from a flag.
std::string text_of(const json& value) {
  if (value.is_boolean()) return value.get<bool>() ? "on" : "off";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

Sweep sweep_at(const Setting& setting, const json& values, const std::string& origin, const std::string& place) {
  if (!values.is_array() || values.empty())
    refuse("a sweep needs a list of values", origin, place, "write {\"devices\": [1, 2, 4]}");
  Sweep sweep{.setting = &setting, .values = {}, .texts = {}};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string here = fmt::format("{}/{}", place, i);
    sweep.values.push_back(value_at(setting, values[i], origin, here));
    if (std::ranges::find(sweep.texts, text_of(values[i])) != sweep.texts.end())
      refuse("the value is given twice", origin, here, "keep one of them");
    sweep.texts.push_back(text_of(values[i]));
  }
  return sweep;
}

// A setting that is swept twice takes the values that were said last.
void put_sweep(std::vector<Sweep>& sweeps, Sweep sweep) {
  const auto same = [&](const Sweep& one) { return one.setting == sweep.setting; };
  const auto found = std::ranges::find_if(sweeps, same);
  if (found == sweeps.end()) sweeps.push_back(std::move(sweep));
  else *found = std::move(sweep);
}

void drop_sweep(std::vector<Sweep>& sweeps, const Setting& setting) {
  std::erase_if(sweeps, [&](const Sweep& one) { return one.setting == &setting; });
}

void apply_sweeps(SweptCase& swept, const json& object, const std::string& origin, const std::string& pointer) {
  if (!object.is_object()) refuse("a sweep must be an object", origin, pointer, "write {\"devices\": [1, 2, 4]}");
  for (const auto& [key, values] : object.items()) {
    const std::string place = pointer + "/" + key;
    put_sweep(swept.sweeps, sweep_at(setting_at(key, origin, place), values, origin, place));
  }
}

void apply_settings(SweptCase& swept, const json& object, const std::string& origin, const std::string& pointer) {
  if (!object.is_object()) refuse("settings must be an object", origin, pointer, "write {\"model\": \"resnet50\"}");
  for (const auto& [key, value] : object.items()) {
    if (key == "sweep") continue;
    const std::string place = pointer + "/" + key;
    const Setting& setting = setting_at(key, origin, place);
    if (object.contains("sweep") && object["sweep"].contains(key))
      refuse(fmt::format("'{}' is given and swept", key), origin, place, "leave out one of them");
    setting.set(swept.config, value_at(setting, value, origin, place));
    drop_sweep(swept.sweeps, setting);
  }
  if (object.contains("sweep")) apply_sweeps(swept, object["sweep"], origin, pointer + "/sweep");
}

void check_top(const json& suite, const std::string& origin) {
  if (!suite.is_object()) refuse("a suite must be an object", origin, "/", "write {\"cases\": [...]}");
  for (const auto& [key, value] : suite.items())
    if (key != "description" && key != "defaults" && key != "cases")
      refuse(fmt::format("unknown key '{}'", key), origin, "/" + key, "a suite has description, defaults and cases");
  if (suite.contains("description") && !suite["description"].is_string())
    refuse("the description must be a string", origin, "/description");
  if (!suite.contains("cases") || !suite["cases"].is_array() || suite["cases"].empty())
    refuse("a suite needs a list of at least one case", origin, "/cases", "write \"cases\": [{\"model\": \"resnet50\"}]");
}

void check_sweeps(const Overrides& overrides, const std::vector<Sweep>& sweeps) {
  std::set<const Setting*> seen;
  for (const auto& [setting, value] : overrides) seen.insert(setting);
  for (const Sweep& sweep : sweeps)
    if (!seen.insert(sweep.setting).second)
      throw Error(Fault::usage, fmt::format("{} is given and swept, or swept twice", flag_of(*sweep.setting)), "--sweep",
                  "leave out one of them");
}

bool looks_like_path(const std::string& name) {
  return name.find('/') != std::string::npos || name.ends_with(".json");
}

}  // namespace

Suite parse_suite(std::string_view text, const std::string& origin) {
  const json document = parse_strictly(text, origin);
  check_top(document, origin);
  Suite suite{.name = origin, .description = document.value("description", "")};
  SweptCase defaults;
  if (document.contains("defaults")) apply_settings(defaults, document["defaults"], origin, "/defaults");
  for (std::size_t i = 0; i < document["cases"].size(); ++i) {
    suite.cases.push_back(defaults);
    apply_settings(suite.cases.back(), document["cases"][i], origin, fmt::format("/cases/{}", i));
  }
  return suite;
}

Suite load_suite(const std::string& name_or_path) {
  std::string known;
  for (const CompiledSuite& suite : compiled_suites()) {
    if (suite.name == name_or_path) return parse_suite(suite.text, std::string(suite.name));
    known += fmt::format("{}{}", known.empty() ? "" : ", ", suite.name);
  }
  if (!looks_like_path(name_or_path))
    throw Error(Fault::usage, fmt::format("there is no suite '{}'", name_or_path), "--suite",
                fmt::format("use {} or the path of a .json file", known));
  return parse_suite(record::read_whole_file(name_or_path, kLargestFile), name_or_path);
}

RunConfig make_run_config(const std::string& suite, const Overrides& overrides, const std::vector<Sweep>& sweeps) {
  check_sweeps(overrides, sweeps);
  RunConfig config{.suite = suite, .cases = {}};
  const std::vector<SweptCase> planned = suite.empty() ? std::vector<SweptCase>(1) : load_suite(suite).cases;
  for (std::size_t i = 0; i < planned.size(); ++i) {
    SweptCase swept = planned[i];
    for (const auto& [setting, value] : overrides) {
      setting->set(swept.config, value);
      drop_sweep(swept.sweeps, *setting);
    }
    for (const Sweep& sweep : sweeps) put_sweep(swept.sweeps, sweep);
    try {
      for (CaseConfig& one : expand(swept)) config.cases.push_back(complete_case(std::move(one)));
    } catch (const Error& error) {
      if (suite.empty()) throw;
      throw Error(error.fault(), error.problem(), fmt::format("{}, case {} of {}", error.where(), i + 1, suite), error.hint());
    }
  }
  return config;
}

std::vector<std::string> case_ids(const RunConfig& config) {
  std::map<std::string, int> uses;
  std::vector<std::string> ids;
  for (const CaseConfig& one : config.cases) {
    ids.push_back(case_id(one));
    if (const int use = ++uses[ids.back()]; use > 1) ids.back() += fmt::format("#{}", use);
  }
  return ids;
}

}  // namespace gpusizer
