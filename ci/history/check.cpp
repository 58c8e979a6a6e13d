// SPDX-License-Identifier: Apache-2.0
// Judges the figures of new runs by their series.
#include "ci/history/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "ci/compare/fleet_shift.hpp"
#include "ci/compare/glob.hpp"
#include "ci/compare/readings.hpp"
#include "ci/compare/sentences.hpp"
#include "ci/compare/state_veto.hpp"
#include "ci/evidence/runs_test.hpp"
#include "reports/record/json.hpp"
#include "reports/record/statistics.hpp"

namespace gpusizer::ci {
namespace {

constexpr std::size_t kBaseRuns = 30;    // the staged test looks no further back
constexpr double kLoneOutlier = 6;       // of the base, in 1.4826 MAD
constexpr std::size_t kMostPoints = 150;

// The runs to check of one figure.
struct Figure {
  SeriesKey key;
  std::vector<Point> fresh;
  const record::Case* failed = nullptr;    // a run of the case that did not end well
  std::string null_reason;
  std::vector<std::string> aliases;
  record::StringMap environment;
};

bool is_failure(record::CaseStatus status) {
  return status == record::CaseStatus::failed || status == record::CaseStatus::oom || status == record::CaseStatus::invalid;
}

Point point_of(const record::Report& report, const record::Case& run, const record::Metric& metric, std::int64_t id) {
  Point point{.time_ms = milliseconds_of(report.created_utc), .run = id, .value = *metric.value, .commit = origin_of(report).commit};
  if (metric.low && metric.high && *metric.value > 0) point.within = (*metric.high - *metric.low) / 2 / *metric.value;
  point.state.fingerprint.state = run.fingerprint.state;
  point.state.validity_flags = run.validity_flags;
  return point;
}

// A report that came from the history has its file's id again: its text is the same.
std::int64_t id_of(const record::Report& report, const std::string& branch) {
  const bool kept = std::any_of(report.unknown.begin(), report.unknown.end(), [](const auto& field) { return field.first == "history"; });
  const record::Report same = kept ? report : with_origin(report, {.commit = "", .branch = branch});
  return run_id_of(run_file_name(same, record::to_json(same)));
}

std::map<std::pair<std::string, std::string>, Figure> figures_of(const std::vector<record::Report>& reports, const CheckRequest& request) {
  std::map<std::pair<std::string, std::string>, Figure> figures;
  for (const record::Report& report : reports) {
    const std::int64_t id = id_of(report, request.branch);
    for (const record::Case& run : report.cases) {
      if (!matches(request.case_pattern, run.id)) continue;
      std::vector<record::Metric> metrics = metrics_of(run);
      if (metrics.empty()) metrics.push_back({.id = "throughput", .null_reason = run.throughput.null_reason, .unit = run.throughput.unit});
      for (const record::Metric& metric : metrics) {
        if (!matches(request.metric_pattern, metric.id)) continue;
        Figure& figure = figures[{run.id, metric.id}];
        figure.key = key_of(run, metric);
        figure.aliases = metric.aliases;
        figure.environment = run.fingerprint.environment;
        if (is_failure(run.status)) figure.failed = &run;
        if (run.status == record::CaseStatus::ok && metric.value) figure.fresh.push_back(point_of(report, run, metric, id));
        else figure.null_reason = run.reason.empty() ? metric.null_reason : run.reason;
      }
    }
  }
  for (auto& [name, figure] : figures)
    std::sort(figure.fresh.begin(), figure.fresh.end(), [](const Point& a, const Point& b) { return std::pair(a.time_ms, a.run) < std::pair(b.time_ms, b.run); });
  return figures;
}

void say(Judgement& j, Verdict verdict, std::string reason, std::string sentence) {
  j.verdict = verdict;
  j.reason = std::move(reason);
  j.sentence = std::move(sentence);
}

std::string environment_difference(const record::StringMap& before, const record::StringMap& after) {
  Words words;
  std::string text;
  add_words(words, before);
  add_words(words, after);
  for (const auto& [name, all] : words) {
    const auto old = before.find(name), now = after.find(name);
    const std::string left = old == before.end() ? "none" : old->second, right = now == after.end() ? "none" : now->second;
    if (left != right) text += fmt::format("{}{}: {} -> {}", text.empty() ? "" : ", ", name, left, right);
  }
  return text.empty() ? "its words are not recorded" : text;
}

// Why the series is empty: never measured, or measured as something else.
void judge_beginning(const History& history, const Figure& figure, Judgement& j) {
  say(j, Verdict::fresh, "not_in_history", "The history does not have this figure yet.");
  for (const SeriesKey& other : history.index().series_of(figure.key.case_id, figure.key.metric)) {
    if (other == figure.key) continue;
    if (other.identity != figure.key.identity) {
      if (j.reason == "not_in_history") say(j, Verdict::fresh, "identity_new", "The history has it for another workload or hardware only.");
    } else if (other.environment != figure.key.environment) {
      say(j, Verdict::fresh, "environment_changed",
          "A new series begins, since the environment changed: " + environment_difference(history.index().environment(other.environment), figure.environment) + ".");
      return;
    } else {
      say(j, Verdict::incomparable, "meaning_changed", fmt::format("Unit, direction, scope or provenance changed: it was {} ({} is better) and is {}.", other.unit,
                                                                   record::to_word(other.better), figure.key.unit));
      return;
    }
  }
}

// One run far off, between two that are not, says nothing about the noise of the others.
std::vector<double> without_lone_outliers(const std::vector<double>& values) {
  if (values.size() < 10) return values;
  const double centre = record::median(values);
  std::vector<double> away;
  for (const double value : values) away.push_back(std::abs(value - centre));
  const double limit = kLoneOutlier * robust_spread(values);
  std::vector<double> kept;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool beside = (i > 0 && away[i - 1] > limit) || (i + 1 < values.size() && away[i + 1] > limit);
    if (!(limit > 0) || away[i] <= limit || beside) kept.push_back(values[i]);
  }
  return kept;
}

std::vector<const record::Case*> states_of(std::span<const Point> points) {
  std::vector<const record::Case*> states;
  for (const Point& point : points) states.push_back(&point.state);
  return states;
}

const LevelShift* alarming_shift(const Trend& trend) {
  for (const LevelShift& shift : trend.shifts)
    if (shift.worse && shift.recent && !shift.accepted && !shift.false_alarm) return &shift;
  return nullptr;
}

void judge_series(const Figure& figure, const Trend& trend, const Ruling& ruling, Judgement& j) {
  const std::size_t old = trend.points.size() - figure.fresh.size();
  const std::size_t from = std::max(trend.base_from, old > kBaseRuns ? old - kBaseRuns : 0);
  const std::span<const Point> base_points = std::span(trend.points).subspan(from, old - from);
  std::vector<double> base, fresh, within;
  for (const Point& point : base_points) base.push_back(point.value), within.push_back(point.within);
  for (const Point& point : figure.fresh) fresh.push_back(point.value);
  base = without_lone_outliers(base);
  const bool positive = *std::min_element(base.begin(), base.end()) > 0 && *std::min_element(fresh.begin(), fresh.end()) > 0;
  if (!positive && record::median(base) == 0)
    return say(j, fresh == base ? Verdict::unchanged : Verdict::incomparable, "zero_base", "The base is 0: a change from it has no size in percent.");
  decide({.base = base, .fresh = fresh, .within = record::median(within), .better = figure.key.better, .logarithmic = positive}, ruling.thresholds, j);
  j.sentence = sentence_for(j);
  if (const LevelShift* shift = alarming_shift(trend); shift && j.verdict != Verdict::regressed)
    say(j, Verdict::regressed, "level_shift", fmt::format("The level shifted by {} at {} ({}), which nobody has accepted.", signed_percent(shift->change),
                                                          shift->commit.empty() ? "an unnamed commit" : shift->commit.substr(0, 12), utc_of(shift->time_ms)));
  const Veto veto = veto_by_state(states_of(base_points), states_of(figure.fresh));
  if (veto.reason.empty() || (j.verdict != Verdict::regressed && j.verdict != Verdict::improved)) return;
  say(j, Verdict::ambiguous, veto.reason, fmt::format("{}, but {}.", j.sentence.substr(0, j.sentence.size() - 1), veto.sentence));
}

Judgement judge_figure(const History& history, const Figure& figure, const Ruling& ruling, const std::string& branch, Trend& trend) {
  Judgement j{.case_id = figure.key.case_id, .metric = figure.key.metric, .unit = figure.key.unit, .better = figure.key.better,
              .provenance = figure.key.provenance, .gated = ruling.use == Use::gate};
  j.new_runs = figure.fresh.size();
  j.min_change = ruling.thresholds.min_change;
  trend = trend_of(history, figure.key, branch, kMostPoints, figure.fresh);
  if (figure.failed) {
    say(j, Verdict::failed, "case_" + record::to_word(figure.failed->status), "The case ended badly: " + figure.failed->reason + ".");
  } else if (figure.fresh.empty()) {
    say(j, Verdict::failed, "no_value", "There is no value: " + figure.null_reason + ".");
  } else if (must_be_positive(figure.key.unit) && std::any_of(figure.fresh.begin(), figure.fresh.end(), [](const Point& p) { return p.value <= 0; })) {
    say(j, Verdict::failed, "not_positive", "A value of 0 or less cannot have been measured.");
  } else if (trend.points.size() == figure.fresh.size()) {
    judge_beginning(history, figure, j);
    j.new_median = figure.fresh.back().value;
  } else {
    judge_series(figure, trend, ruling, j);
  }
  return j;
}

// Figures of the last run with any of the same cases that the new runs do not have.
void add_missing(const History& history, const std::map<std::pair<std::string, std::string>, Figure>& figures, const std::vector<record::Report>& fresh,
                 const Rules& rules, const CheckRequest& request, CheckResult& result) {
  std::set<std::string> cases;
  std::set<std::int64_t> own;
  for (const record::Report& report : fresh) {
    own.insert(id_of(report, request.branch));
    for (const record::Case& run : report.cases) cases.insert(run.id);
  }
  for (const RunRow& row : history.index().newest_runs(request.branch, 10 + own.size())) {
    if (own.contains(row.id)) continue;
    const record::Report before = history.report(row.file);
    if (std::none_of(before.cases.begin(), before.cases.end(), [&](const record::Case& c) { return cases.contains(c.id); })) continue;
    for (const record::Case& run : before.cases)
      for (const record::Metric& metric : metrics_of(run)) {
        const bool renamed = std::any_of(figures.begin(), figures.end(), [&](const auto& f) {
          return f.first.first == run.id && std::count(f.second.aliases.begin(), f.second.aliases.end(), metric.id);
        });
        if (renamed || figures.contains({run.id, metric.id}) || !metric.value || run.status != record::CaseStatus::ok ||
            !matches(request.case_pattern, run.id) || !matches(request.metric_pattern, metric.id)) continue;
        const Ruling ruling = ruling_for(rules, run.id, metric.id);
        if (ruling.use == Use::state) continue;
        Judgement j{.case_id = run.id, .metric = metric.id, .unit = metric.unit, .better = metric.better, .gated = ruling.use == Use::gate};
        say(j, Verdict::missing, cases.contains(run.id) ? "metric_vanished" : "case_vanished", "The run before had this figure, the new ones have not.");
        result.comparison.judgements.push_back(j);
        result.trends.push_back({.key = key_of(run, metric)});
      }
    return;
  }
}

}  // namespace

CheckResult check(const History& history, const std::vector<record::Report>& fresh, const Rules& rules, const CheckRequest& request) {
  CheckResult result;
  result.comparison.new_reports = fresh.size();
  const auto figures = figures_of(fresh, request);
  std::set<std::string> again;
  for (const auto& [name, figure] : figures) {
    const Ruling ruling = ruling_for(rules, name.first, name.second);
    if (ruling.use == Use::state) continue;
    result.trends.emplace_back();
    result.comparison.judgements.push_back(judge_figure(history, figure, ruling, request.branch, result.trends.back()));
    const Judgement& j = result.comparison.judgements.back();
    result.comparison.base_reports = std::max(result.comparison.base_reports, j.base_runs);
    if (j.gated && j.verdict == Verdict::ambiguous && (j.reason == "needs_more_runs" || j.reason == "weak_evidence")) again.insert(j.case_id);
  }
  result.cases_to_rerun.assign(again.begin(), again.end());
  add_missing(history, figures, fresh, rules, request, result);
  find_fleet_shift(result.comparison);
  return result;
}

std::string rerun_commands(const record::Report& report, const std::string& folder, const std::vector<std::string>& files) {
  std::string command = report.command_line, text, reruns;
  const std::size_t at = command.find(" --out ");
  if (at != std::string::npos) {  // the value is one shell word, quoted or not
    std::size_t end = at + 7;
    const bool quoted = end < command.size() && command[end] == '\'';
    end = quoted ? command.find('\'', end + 1) : command.find(' ', end);
    command.erase(at, end == std::string::npos ? std::string::npos : end + (quoted ? 1 : 0) - at);
  }
  for (int i = 1; i <= 4; ++i) {
    text += fmt::format("{} --out rerun-{}.json\n", command, i);
    reruns += fmt::format(" rerun-{}.json", i);
  }
  std::string known;
  for (const std::string& file : files) known += " " + file;
  return text + "gpusizer history check" + known + reruns + " --dir " + folder + "\n";
}

}  // namespace gpusizer::ci
