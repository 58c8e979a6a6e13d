// SPDX-License-Identifier: Apache-2.0
// The table of settings of a case: each is a flag of `gpusizer run` and a key of a suite file alike.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "bench/run_config/run_config.hpp"

namespace gpusizer {

enum class SettingKind { whole, number, word, on_off };
using SettingValue = std::variant<std::int64_t, double, std::string, bool>;

struct Setting {
  std::string_view name;  // "max-seconds": the flag is --max-seconds, the key in a suite file "max_seconds"
  SettingKind kind;
  std::string_view placeholder;  // "S" in "--max-seconds S"
  std::string_view help;
  void (*set)(CaseConfig&, const SettingValue&);
};

// To add one: a field in CaseConfig, a line in the table of settings.cpp, a rule in check_case.cpp.
std::span<const Setting> settings();

// The heading, in a list of all settings, that stands before this one; empty where none does.
std::string_view heading_before(std::string_view setting);

std::string flag_of(const Setting& setting);  // "--max-seconds"
std::string key_of(const Setting& setting);   // "max_seconds"

// The value that a person wrote on the command line. Throws Error(usage) naming the flag when it is none of that kind
// (not a number, NaN, infinite, out of range, an empty word).
SettingValue parse_setting(const Setting& setting, const std::string& text);

}  // namespace gpusizer
