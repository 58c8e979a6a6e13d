// SPDX-License-Identifier: Apache-2.0
// Suites: named lists of cases in JSON, compiled into the program or given as a path.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/run_config/run_config.hpp"
#include "bench/run_config/settings.hpp"
#include "bench/run_config/sweep.hpp"

namespace gpusizer {

// The suites that came with the program, made from bench/suites/*.json at build time.
struct CompiledSuite {
  std::string_view name;
  std::string_view text;
};
std::span<const CompiledSuite> compiled_suites();

struct Suite {
  std::string name;
  std::string description;
  std::vector<SweptCase> cases;
};

// {"description": "...", "defaults": {settings}, "cases": [{settings, "sweep": {"devices": [1, 2]}}, ...]} with the keys
// of settings(). A sweep among the defaults is every case's. Throws Error(usage) with `origin` and the JSON pointer for damaged text, unknown or repeated keys, wrong types, no cases.
Suite parse_suite(std::string_view text, const std::string& origin);

// A compiled suite by name, else the file of that path. Throws Error(usage) for neither, Error(input) for an unreadable file.
Suite load_suite(const std::string& name_or_path);

// What was said on the command line, in order; applies to every case.
using Overrides = std::vector<std::pair<const Setting*, SettingValue>>;

// The suite (empty: one case from the overrides alone) with the overrides and sweeps, each case completed and checked.
// What is said here replaces a suite's sweep of the same setting. Throws Error(usage) for a setting that is given and
// swept, or swept twice.
RunConfig make_run_config(const std::string& suite, const Overrides& overrides, const std::vector<Sweep>& sweeps = {});

// The id of each case, unique: a repeated one has "#2", "#3" appended.
std::vector<std::string> case_ids(const RunConfig& config);

}  // namespace gpusizer
