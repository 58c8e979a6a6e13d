// SPDX-License-Identifier: Apache-2.0
// gpusizer history add, accept, prune, rebuild: what changes a history.
#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <iostream>

#include "bench/cli/history_command.hpp"
#include "bench/cli/report_sets.hpp"
#include "ci/history/history.hpp"
#include "gpusizer/error.hpp"
#include "reports/record/report_file.hpp"
#include "reports/render/text.hpp"

namespace gpusizer::cli {
namespace {

std::string needed_text(const Options& options, const std::string& name) {
  if (const auto text = options.value(name)) return *text;
  throw Error(Fault::usage, "the flag is needed", "--" + name, "see gpusizer history accept --help");
}

// The first run of the branch that the commit made; a beginning of at least 4 digits will do.
ci::RunRow run_of_commit(const ci::History& history, const std::string& branch, const std::string& commit) {
  std::optional<ci::RunRow> first;
  for (const ci::RunRow& run : history.index().newest_runs(branch, std::size_t{1} << 30u))
    if (commit.size() >= 4 && run.commit.starts_with(commit)) first = run;
  if (!first) throw Error(Fault::usage, fmt::format("no run of the branch has the commit '{}'", commit), "--at", "gpusizer history show --json lists them");
  return *first;
}

}  // namespace

int history_add(const Arguments& arguments) {
  Options options("history add", "REPORT|FOLDER... [flags]", "  gpusizer history add nightly.json\n  gpusizer history add pr.json --branch pr-12 --commit 4f2a1c9\n");
  add_history_flags(options);
  options.flag("commit", "SHA", "of what was measured [that of the program, from the report]");
  options.positional("word", -1);
  if (options.parse(arguments)) return 0;
  const auto words = options.values("word");
  if (words.empty()) throw Error(Fault::usage, "no report was named", "", "write gpusizer history add REPORT.json ...");
  std::vector<record::Report> reports;
  for (const std::string& word : words)
    for (const std::string& file : files_at(word)) reports.push_back(record::read_report(file));
  ci::History history(history_folder(options), true);
  for (const record::Report& report : reports) {
    const auto added = history.add(report, {options.value("commit").value_or(""), history_branch(options)});
    std::cout << (added.is_new ? "added " : "was there already: ") << added.file << std::endl;  // acknowledged: must be out at once
  }
  return 0;
}

int history_prune(const Arguments& arguments) {
  Options options("history prune", "--keep N [flags]", "  gpusizer history prune --keep 1000 --dry-run\n");
  add_history_flags(options);
  options.flag("keep", "N", "runs of the branch, the newest");
  options.toggle("dry-run", "only name what would be removed");
  if (options.parse(arguments)) return 0;
  const std::string text = options.value("keep").value_or("");
  std::size_t keep = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), keep);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || keep == 0)
    throw Error(Fault::usage, "the number of runs to keep is needed, at least 1", "--keep", "as in --keep 1000");
  ci::History history(history_folder(options), false);
  const auto files = history.prune(history_branch(options), keep, options.has("dry-run"));
  for (const std::string& file : files) std::cout << (options.has("dry-run") ? "would remove " : "removed ") << file << "\n";
  std::cout << fmt::format("{} run{} {}\n", files.size(), files.size() == 1 ? "" : "s", options.has("dry-run") ? "would go" : "gone");
  return 0;
}

int history_accept(const Arguments& arguments) {
  Options options("history accept", "--at COMMIT --author NAME --reason TEXT [flags]",
                  "  gpusizer history accept --case 'resnet*' --at 4f2a1c --author Ada --reason 'new default batch'\n"
                  "  gpusizer history accept --at 4f2a1c --author Ada --reason 'noisy host' --false-alarm\n");
  add_history_flags(options);
  options.flag("case", "PATTERN", "of the cases; * is any text [*]");
  options.flag("metric", "PATTERN", "of the metrics [*]");
  options.flag("at", "COMMIT", "the first one of the new level, or its beginning");
  options.flag("author", "NAME", "who says so");
  options.flag("reason", "TEXT", "why, for those who come later");
  options.toggle("false-alarm", "there was no shift: go on with the base, do not raise it again");
  if (options.parse(arguments)) return 0;
  const std::string at = needed_text(options, "at"), author = needed_text(options, "author"), reason = needed_text(options, "reason");
  ci::History history(history_folder(options), false);
  const ci::RunRow run = run_of_commit(history, history_branch(options), at);
  const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  history.accept({options.value("case").value_or("*"), options.value("metric").value_or("*"), run.time_ms, run.commit, author, reason,
                  ci::utc_of(now), options.has("false-alarm")});
  std::cout << render::printable(fmt::format("{} from {} ({})", options.has("false-alarm") ? "no shift" : "accepted", run.commit.substr(0, 12), ci::utc_of(run.time_ms))) << "\n";
  return 0;
}

int history_rebuild(const Arguments& arguments) {
  Options options("history rebuild", "[flags]", "  gpusizer history rebuild --dir gpusizer-history\n");
  add_history_flags(options);
  if (options.parse(arguments)) return 0;
  ci::History history(history_folder(options), false);
  std::cout << fmt::format("{} runs are in the index again\n", history.rebuild());
  return 0;
}

}  // namespace gpusizer::cli
