// SPDX-License-Identifier: Apache-2.0
// gpusizer compare: did new runs change against a base?
#include <fmt/format.h>

#include <iostream>

#include "bench/cli/command.hpp"
#include "bench/cli/options.hpp"
#include "bench/cli/output.hpp"
#include "bench/cli/report_sets.hpp"
#include "bench/cli/terminal.hpp"
#include "ci/compare/compare.hpp"
#include "ci/compare/comparison_text.hpp"
#include "reports/render/text.hpp"

namespace gpusizer::cli {
namespace {

constexpr const char* kCompareExamples =
    "  gpusizer compare base.json new.json\n"
    "  gpusizer compare main-*.json vs pr-*.json           # several runs on both sides; ten of the base decide\n"
    "  gpusizer compare --base runs/main pr.json --json | jq '.figures[] | select(.verdict == \"regressed\")'\n"
    "  gpusizer compare --base runs/main pr.json --rules rules.json --fail-on regressed,missing\n"
    "\n"
    "A rules file, over the built-in rules (shares: 0.01 is 1 %; uses: gate, track, state):\n"
    "  {\"version\": 1, \"min_change\": 0.02, \"require\": [\"resnet*:throughput\"],\n"
    "   \"rules\": [{\"case\": \"bert*\", \"metric\": \"startup_seconds\", \"use\": \"gate\", \"min_change\": 0.1}]}\n"
    "\n"
    "Exit codes: 0 nothing to complain of (also: no baseline yet), 1 a gated regression, 2 usage, 3 unreadable or\n"
    "nothing comparable, 4 a case failed or nothing was measured.\n";

Options compare_options() {
  Options options("compare", "BASE NEW | BASE... vs NEW... | --base BASE... NEW...", kCompareExamples);
  options.many("base", "FILE|FOLDER", "of the base; may be repeated; all other words are then new reports");
  options.flag("rules", "FILE", "which figures are gated, and how strictly (JSON, below)");
  options.flag("fail-on", "VERDICTS", "verdicts of gated figures that give exit code 1, with commas [regressed]");
  options.many("require", "CASE:METRIC", "a figure that must be there with a value; * is any text; may be repeated");
  options.toggle("warn-only", "exit code 0 where it would be 1");
  options.toggle("all", "list unchanged figures too");
  options.toggle("json", "everything as JSON");
  options.flag("out", "FILE", "write it there instead of to standard output");
  options.positional("word", -1);
  return options;
}

ci::Rules rules_of(const Options& options) {
  ci::Rules rules = options.value("rules") ? ci::read_rules(*options.value("rules")) : ci::built_in_rules();
  if (const auto verdicts = options.value("fail-on")) rules.fail_on = ci::parse_verdicts(*verdicts, "--fail-on");
  for (const std::string& pattern : options.values("require")) rules.require.push_back(pattern);
  return rules;
}

}  // namespace

int compare_command(const Arguments& arguments) {
  Options options = compare_options();
  if (options.parse(arguments)) return 0;
  const ci::Rules rules = rules_of(options);
  const ReportSets sets = read_sets(options.values("word"), options.values("base"), "compare");
  refuse_input_as_output(options.value("out"), sets.files);
  for (const std::string& warning : sets.warnings) std::cerr << "gpusizer: " << render::printable(warning) << "\n";
  const ci::Comparison comparison = ci::compare(sets.base, sets.fresh, rules);
  const int code = ci::exit_code_of(comparison, rules, options.has("warn-only"));
  const render::Look look = options.value("out") ? render::Look{} : look_of_stdout();
  put_text(options.has("json") ? ci::comparison_json(comparison, code) : ci::comparison_text(comparison, look, options.has("all")),
           options.value("out"));
  return code;
}

}  // namespace gpusizer::cli
