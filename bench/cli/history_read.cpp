// SPDX-License-Identifier: Apache-2.0
// gpusizer history show, check: what asks a history.
#include <fmt/format.h>

#include <charconv>
#include <iostream>

#include "bench/cli/command_text.hpp"
#include "bench/cli/history_command.hpp"
#include "bench/cli/output.hpp"
#include "bench/cli/report_sets.hpp"
#include "bench/cli/terminal.hpp"
#include "ci/compare/compare.hpp"
#include "ci/compare/glob.hpp"
#include "ci/dashboards/trend_page.hpp"
#include "ci/history/check.hpp"
#include "ci/history/history_text.hpp"
#include "gpusizer/error.hpp"
#include "reports/record/report_file.hpp"
#include "reports/render/text.hpp"

namespace gpusizer::cli {
namespace {

std::size_t count_in(const Options& options, const std::string& name, std::size_t otherwise, std::size_t most) {
  const auto text = options.value(name);
  if (!text) return otherwise;
  std::size_t count = 0;
  const auto parsed = std::from_chars(text->data(), text->data() + text->size(), count);
  if (parsed.ec != std::errc() || parsed.ptr != text->data() + text->size() || count == 0 || count > most)
    throw Error(Fault::usage, fmt::format("'{}' is not a number from 1 to {}", *text, most), "--" + name);
  return count;
}

void add_patterns(Options& options) {
  options.flag("case", "PATTERN", "only cases with such an id; * is any text [*]");
  options.flag("metric", "PATTERN", "only such metrics [*]");
}

std::vector<ci::Trend> trends_of(const ci::History& history, const Options& options, std::size_t most) {
  std::vector<ci::Trend> trends;
  for (const ci::SeriesSummary& series : history.index().series()) {
    if (!ci::matches(options.value("case").value_or("*"), series.key.case_id)) continue;
    if (!ci::matches(options.value("metric").value_or("*"), series.key.metric)) continue;
    ci::Trend trend = ci::trend_of(history, series.key, history_branch(options), most);
    if (!trend.points.empty()) trends.push_back(std::move(trend));
  }
  return trends;
}

struct Checked {
  std::vector<record::Report> reports;  // newest last
  std::vector<std::string> files;       // as a person would name them again
};

// The reports that were named, or the newest of the history.
Checked reports_to_check(const ci::History& history, const Options& options) {
  Checked checked;
  for (const std::string& word : options.values("word"))
    for (const std::string& file : files_at(word)) {
      checked.reports.push_back(record::read_report(file));
      checked.files.push_back(shell_quoted(file));
    }
  if (!checked.reports.empty()) return checked;
  const auto runs = history.index().newest_runs(history_branch(options), count_in(options, "last", 1, 100));
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    checked.reports.push_back(history.report(run->file));
    checked.files.push_back(shell_quoted(history_folder(options) + "/reports/" + run->file));
  }
  if (checked.reports.empty()) throw Error(Fault::failed, "the history has no run of this branch", history_branch(options), "gpusizer history add REPORT");
  return checked;
}

ci::Rules check_rules(const Options& options) {
  ci::Rules rules = options.value("rules") ? ci::read_rules(*options.value("rules")) : ci::built_in_rules();
  if (const auto verdicts = options.value("fail-on")) rules.fail_on = ci::parse_verdicts(*verdicts, "--fail-on");
  return rules;
}

}  // namespace

int history_show(const Arguments& arguments) {
  Options options("history show", "[flags]", "  gpusizer history show\n  gpusizer history show --case 'resnet*' --json\n"
                  "  gpusizer history show --format html --commit-url https://example.org/commit/ --out trend.html\n");
  add_history_flags(options);
  add_patterns(options);
  options.flag("runs", "N", "of each series at most, the newest [500]");
  options.flag("format", "terminal|html|json", "html is one page with a chart for each series [terminal]");
  options.flag("commit-url", "URL", "what to put before a commit to make a link of it, on the page");
  options.toggle("json", "the same as --format json: every point");
  options.flag("out", "FILE", "write it there instead of to standard output");
  if (options.parse(arguments)) return 0;
  const std::string format = options.has("json") ? "json" : options.value("format").value_or("terminal");
  if (format != "terminal" && format != "html" && format != "json")
    throw Error(Fault::usage, fmt::format("there is no format '{}'", format), "--format", "use terminal, html or json");
  const ci::History history(history_folder(options), false);
  const auto trends = trends_of(history, options, count_in(options, "runs", 500, 1'000'000));
  const render::Look look = options.value("out") ? render::Look{} : look_of_stdout();
  put_text(format == "html"   ? ci::trend_page(trends, {.commit_url = options.value("commit-url").value_or("")})
           : format == "json" ? ci::trends_json(trends)
                              : ci::trends_text(trends, look),
           options.value("out"));
  return 0;
}

int history_check(const Arguments& arguments) {
  Options options("history check", "[REPORT...] [flags]",
                  "  gpusizer history check                     # the newest run of the history\n"
                  "  gpusizer history check pr.json             # a run that is not in it\n"
                  "  gpusizer history check --last 5            # the newest five together\n"
                  "  gpusizer history check pr.json --emit-rerun > rerun.sh && sh rerun.sh\n");
  add_history_flags(options);
  add_patterns(options);
  options.flag("last", "K", "the newest K runs are the new ones [1]");
  options.flag("rules", "FILE", "as of gpusizer compare");
  options.flag("fail-on", "VERDICTS", "of gated figures that give exit code 1, with commas [regressed]");
  options.toggle("warn-only", "exit code 0 where it would be 1");
  options.toggle("emit-rerun", "print only the commands of the runs that decide what is suspicious; nothing when nothing is");
  options.toggle("all", "list unchanged figures too");
  options.toggle("json", "everything as JSON");
  options.flag("out", "FILE", "write it there instead of to standard output");
  options.positional("word", -1);
  if (options.parse(arguments)) return 0;
  const ci::Rules rules = check_rules(options);
  const ci::History history(history_folder(options), false);
  const Checked checked = reports_to_check(history, options);
  const ci::CheckResult result = ci::check(history, checked.reports, rules,
                                           {history_branch(options), options.value("case").value_or("*"), options.value("metric").value_or("*")});
  const int code = ci::exit_code_of(result.comparison, rules, options.has("warn-only"));
  if (options.has("emit-rerun")) {
    put_text(result.cases_to_rerun.empty() ? "" : ci::rerun_commands(checked.reports.back(), shell_quoted(history_folder(options)), checked.files), options.value("out"));
    return code;
  }
  const render::Look look = options.value("out") ? render::Look{} : look_of_stdout();
  put_text(options.has("json") ? ci::check_json(result, code) : ci::check_text(result, look, options.has("all")), options.value("out"));
  return code;
}

}  // namespace gpusizer::cli
