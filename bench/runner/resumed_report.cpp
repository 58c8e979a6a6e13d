// SPDX-License-Identifier: Apache-2.0
// Compares a report with the run that means to go on with it.
#include "bench/runner/resumed_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gpusizer/error.hpp"

namespace gpusizer {
namespace {

using record::CaseStatus;

void require_same(const std::string& what, const std::string& then, const std::string& now) {
  if (then == now) return;
  throw Error(Fault::usage, fmt::format("the report was begun with {} '{}', and this is '{}'", what, then, now),
              "--resume",
              "go on where it was begun, or start a new report: one report describes one machine and one program");
}

std::string instance_text(const record::Environment& environment) {
  return environment.instance ? environment.instance->cloud + " " + environment.instance->type : "none";
}

std::string threads_text(const record::Environment& environment) {
  return environment.cpu_threads ? std::to_string(*environment.cpu_threads) : "unknown";
}

}  // namespace

bool is_done(const record::Case& one) {
  return one.status != CaseStatus::interrupted && one.status != CaseStatus::skipped;
}

bool is_done(const record::Report& begun, const std::vector<std::string>& ids) {
  return begun.cases.size() == ids.size() &&
         std::all_of(begun.cases.begin(), begun.cases.end(), [](const record::Case& one) { return is_done(one); });
}

void require_same_run(const record::Report& begun, const std::vector<std::string>& ids,
                      const record::Environment& machine, const record::Tool& tool) {
  require_same("the processor", begun.environment.cpu_model, machine.cpu_model);
  require_same("a number of threads of", threads_text(begun.environment), threads_text(machine));
  require_same("the instance", instance_text(begun.environment), instance_text(machine));
  require_same("the version", begun.tool.version, tool.version);
  require_same("the commit", begun.tool.git_commit, tool.git_commit);
  for (std::size_t i = 0; i < begun.cases.size(); ++i)
    if (i >= ids.size() || begun.cases[i].id != ids[i])
      throw Error(Fault::usage,
                  fmt::format("case {} of the report is {}, and its command now gives {}", i + 1, begun.cases[i].id,
                              i < ids.size() ? ids[i] : "no such case"),
                  "--resume", "put the suite back as it was, or start a new report");
}

}  // namespace gpusizer
