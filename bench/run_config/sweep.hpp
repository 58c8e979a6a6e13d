// SPDX-License-Identifier: Apache-2.0
// Sweeps: one case becomes several that differ in one or more settings.
#pragma once

#include <string>
#include <vector>

#include "bench/run_config/run_config.hpp"
#include "bench/run_config/settings.hpp"

namespace gpusizer {

// One setting and the values it takes, each with the text of it for a case's id.
struct Sweep {
  const Setting* setting = nullptr;
  std::vector<SettingValue> values;
  std::vector<std::string> texts;
};

// "devices=1,2,4"; values that contain commas are separated by semicolons ("parallel=dp=4;dp=2,pp=2"). Every setting of a
// case can be swept. Throws Error(usage), where --sweep, for an unknown key, a repeated value, no value.
Sweep read_sweep(const std::string& text);

// The setting with a key as in a suite ("max_seconds") or a flag ("max-seconds"); nullptr for neither.
const Setting* find_setting(const std::string& key);

// A case with the sweeps that are still to be expanded.
struct SweptCase {
  CaseConfig config;
  std::vector<Sweep> sweeps;
};

// The product of all values, the first sweep outermost; without sweeps the case alone. The layouts are resolved, each
// knows the largest of them. Throws Error(usage) for more than 1000 cases.
std::vector<CaseConfig> expand(const SweptCase& swept);

}  // namespace gpusizer
