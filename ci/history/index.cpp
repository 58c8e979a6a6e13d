// SPDX-License-Identifier: Apache-2.0
// Tables of the index, filling and asking them.
#include "ci/history/index.hpp"

#include <fmt/format.h>

#include <set>

#include "ci/compare/readings.hpp"
#include "ci/history/run_file.hpp"
#include "reports/record/fingerprint.hpp"
#include "reports/record/number_text.hpp"
#include "reports/record/report_file.hpp"
#include "reports/record/sha256.hpp"

namespace gpusizer::ci {
namespace {

namespace fs = std::filesystem;

constexpr int kVersion = 1;

// Keys come from contents, never from the order of insertion, so that an index made again is the same.
constexpr const char* kTables = R"(
CREATE TABLE runs(run INTEGER PRIMARY KEY, file TEXT, time_ms INTEGER, commit_id TEXT, branch TEXT);
CREATE INDEX runs_by_time ON runs(branch, time_ms);
CREATE TABLE series(series INTEGER PRIMARY KEY, case_id TEXT, metric TEXT, identity TEXT, environment TEXT, unit TEXT,
                    better TEXT, scope TEXT, provenance TEXT);
CREATE INDEX series_by_name ON series(case_id, metric);
CREATE TABLE results(series INTEGER, time_ms INTEGER, run INTEGER, value REAL, within REAL,
                     PRIMARY KEY(series, time_ms, run)) WITHOUT ROWID;
CREATE TABLE cases(run INTEGER, case_id TEXT, status TEXT, state TEXT, flags TEXT, PRIMARY KEY(run, case_id)) WITHOUT ROWID;
CREATE TABLE aliases(case_id TEXT, metric TEXT, former TEXT, PRIMARY KEY(case_id, metric, former)) WITHOUT ROWID;
CREATE TABLE words(environment TEXT, name TEXT, word TEXT, PRIMARY KEY(environment, name)) WITHOUT ROWID;
)";

constexpr const char* kTableNames[] = {"runs", "series", "results", "cases", "aliases", "words"};

double within_of(const record::Metric& metric) {
  if (!metric.low || !metric.high || !(*metric.value > 0)) return 0;
  return (*metric.high - *metric.low) / 2 / *metric.value;
}

std::string state_text(const record::StringMap& state) {
  std::string text;
  for (const auto& [name, word] : state)
    if ((name + word).find('\n') == std::string::npos && name.find('=') == std::string::npos) text += name + "=" + word + "\n";
  return text;
}

std::string flags_text(const record::Case& run) {
  std::string text;
  for (const record::ValidityFlag& flag : run.validity_flags) text += flag.id + "\n";
  return text;
}

record::Case state_from(const std::string& state, const std::string& flags) {
  record::Case run;
  for (std::size_t at = 0, end = 0; (end = state.find('\n', at)) != std::string::npos; at = end + 1) {
    const std::string line = state.substr(at, end - at);
    run.fingerprint.state[line.substr(0, line.find('='))] = line.substr(line.find('=') + 1);
  }
  for (std::size_t at = 0, end = 0; (end = flags.find('\n', at)) != std::string::npos; at = end + 1)
    run.validity_flags.push_back({.id = flags.substr(at, end - at)});
  return run;
}

SeriesKey key_from(const Statement& row, int first) {
  SeriesKey key{row.text(first), row.text(first + 1), row.text(first + 2), row.text(first + 3), row.text(first + 4)};
  record::kind_from_word(row.text(first + 5), key.better);
  record::kind_from_word(row.text(first + 6), key.scope);
  record::kind_from_word(row.text(first + 7), key.provenance);
  return key;
}

Database opened(const fs::path& path) {
  Database database(path);
  database.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;");
  return database;
}

}  // namespace

std::int64_t SeriesKey::id() const {
  record::StringMap words = {{"case", case_id}, {"metric", metric}, {"identity", identity}, {"environment", environment}, {"unit", unit},
                             {"better", to_word(better)}, {"scope", to_word(scope)}, {"provenance", to_word(provenance)}};
  return static_cast<std::int64_t>(std::stoull(record::hash_of(words).substr(0, 15), nullptr, 16));
}

SeriesKey key_of(const record::Case& run, const record::Metric& metric) {
  return {run.id, metric.id, run.fingerprint.identity_hash, run.fingerprint.environment_hash, metric.unit, metric.better, metric.scope,
          metric.provenance};
}

Index::Index(const fs::path& path) : path_(path) {
  try {
    database_.emplace(opened(path));
    Statement version = database_->prepare("PRAGMA user_version");
    if (version.step() && version.integer(0) == kVersion) return;
  } catch (const DamagedIndex&) {
    database_.reset();
    for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(path.string() + suffix);
    database_.emplace(opened(path));
  }
  Transaction transaction(*database_);
  make_tables();
  transaction.commit();
}

void Index::make_tables() {
  for (const char* name : kTableNames) database_->execute(std::string("DROP TABLE IF EXISTS ") + name);
  database_->execute(kTables);
  database_->execute(fmt::format("PRAGMA user_version = {}", kVersion));
}

void Index::forget_everything() {
  Transaction transaction(*database_);
  make_tables();
  transaction.commit();
}

std::size_t Index::follow(const fs::path& reports) {
  std::set<std::string> known;
  for (Statement row = database_->prepare("SELECT file FROM runs"); row.step();) known.insert(row.text(0));
  const std::vector<std::string> files = run_files(reports);
  std::vector<std::string> fresh;
  for (const std::string& file : files)
    if (known.erase(file) == 0) fresh.push_back(file);
  if (known.empty() && fresh.empty()) return 0;
  Transaction transaction(*database_);
  if (!known.empty()) {  // files are gone: what else they brought along is found by starting again
    make_tables();
    fresh = files;
  }
  for (const std::string& file : fresh) insert(record::read_report(reports / file), file);
  transaction.commit();
  return fresh.size() + known.size();
}

void Index::insert(const record::Report& report, const std::string& file) {
  const std::int64_t run = run_id_of(file), time = milliseconds_of(report.created_utc);
  const Origin origin = origin_of(report);
  Statement runs = database_->prepare("INSERT OR REPLACE INTO runs VALUES(?,?,?,?,?)");
  runs.bind(1, run).bind(2, file).bind(3, time).bind(4, origin.commit).bind(5, origin.branch).run();
  Statement cases = database_->prepare("INSERT OR REPLACE INTO cases VALUES(?,?,?,?,?)");
  Statement series = database_->prepare("INSERT OR IGNORE INTO series VALUES(?,?,?,?,?,?,?,?,?)");
  Statement results = database_->prepare("INSERT OR REPLACE INTO results VALUES(?,?,?,?,?)");
  Statement aliases = database_->prepare("INSERT OR IGNORE INTO aliases VALUES(?,?,?)");
  Statement words = database_->prepare("INSERT OR IGNORE INTO words VALUES(?,?,?)");
  for (const record::Case& c : report.cases) {
    cases.bind(1, run).bind(2, c.id).bind(3, to_word(c.status)).bind(4, state_text(c.fingerprint.state)).bind(5, flags_text(c)).run();
    for (const auto& [name, word] : c.fingerprint.environment)
      words.bind(1, c.fingerprint.environment_hash).bind(2, name).bind(3, word).run();
    for (const record::Metric& metric : metrics_of(c)) {
      if (c.status != record::CaseStatus::ok || !metric.value) continue;
      const SeriesKey key = key_of(c, metric);
      series.bind(1, key.id()).bind(2, key.case_id).bind(3, key.metric).bind(4, key.identity).bind(5, key.environment).bind(6, key.unit);
      series.bind(7, to_word(key.better)).bind(8, to_word(key.scope)).bind(9, to_word(key.provenance)).run();
      results.bind(1, key.id()).bind(2, time).bind(3, run).bind(4, *metric.value).bind(5, within_of(metric)).run();
      for (const std::string& former : metric.aliases) aliases.bind(1, c.id).bind(2, metric.id).bind(3, former).run();
    }
  }
}

std::vector<SeriesSummary> Index::series() const {
  std::vector<SeriesSummary> all;
  Statement row = database_->prepare(
      "SELECT case_id, metric, identity, environment, unit, better, scope, provenance, n, last FROM series JOIN "
      "(SELECT series AS s, COUNT(*) AS n, MAX(time_ms) AS last FROM results GROUP BY series) ON s = series.series "
      "ORDER BY case_id, metric, last, series.series");
  while (row.step()) all.push_back({key_from(row, 0), row.integer(8), row.integer(9)});
  return all;
}

std::vector<SeriesKey> Index::series_of(const std::string& case_id, const std::string& metric) const {
  std::vector<SeriesKey> keys;
  Statement row = database_->prepare("SELECT case_id, metric, identity, environment, unit, better, scope, provenance FROM series "
                                     "WHERE case_id = ? AND metric = ? ORDER BY series");
  row.bind(1, case_id).bind(2, metric);
  while (row.step()) keys.push_back(key_from(row, 0));
  return keys;
}

std::vector<std::string> Index::former_ids(const std::string& case_id, const std::string& metric) const {
  std::vector<std::string> ids;
  Statement row = database_->prepare("SELECT former FROM aliases WHERE case_id = ? AND metric = ? ORDER BY former");
  row.bind(1, case_id).bind(2, metric);
  while (row.step()) ids.push_back(row.text(0));
  return ids;
}

std::vector<Point> Index::points(std::int64_t series, const std::string& branch, std::size_t most) const {
  std::vector<Point> points;
  Statement row = database_->prepare(
      "SELECT r.time_ms, r.run, r.value, r.within, runs.commit_id, cases.state, cases.flags FROM results r "
      "JOIN runs ON runs.run = r.run JOIN series ON series.series = r.series "
      "JOIN cases ON cases.run = r.run AND cases.case_id = series.case_id "
      "WHERE r.series = ? AND runs.branch = ? ORDER BY r.time_ms DESC, r.run DESC LIMIT ?");
  row.bind(1, series).bind(2, branch).bind(3, static_cast<std::int64_t>(most));
  while (row.step())
    points.push_back({row.integer(0), row.integer(1), row.real(2), row.real(3), row.text(4), state_from(row.text(5), row.text(6))});
  return {points.rbegin(), points.rend()};
}

std::vector<RunRow> Index::newest_runs(const std::string& branch, std::size_t most) const {
  std::vector<RunRow> runs;
  Statement row = database_->prepare(
      "SELECT run, time_ms, file, commit_id, branch FROM runs WHERE branch = ? ORDER BY time_ms DESC, run DESC LIMIT ?");
  row.bind(1, branch).bind(2, static_cast<std::int64_t>(most));
  while (row.step()) runs.push_back({row.integer(0), row.integer(1), row.text(2), row.text(3), row.text(4)});
  return runs;
}

record::StringMap Index::environment(const std::string& hash) const {
  record::StringMap words;
  Statement row = database_->prepare("SELECT name, word FROM words WHERE environment = ? ORDER BY name");
  row.bind(1, hash);
  while (row.step()) words[row.text(0)] = row.text(1);
  return words;
}

std::string Index::dump() const {
  std::string text;
  for (const char* query : {"SELECT * FROM runs ORDER BY run", "SELECT * FROM series ORDER BY series", "SELECT * FROM results",
                            "SELECT * FROM cases", "SELECT * FROM aliases", "SELECT * FROM words"}) {
    text += std::string(query) + "\n";
    const int columns = text.ends_with("series ORDER BY series\n") ? 9 : std::string(query).find("aliases") != std::string::npos ||
                                                                        std::string(query).find("words") != std::string::npos ? 3 : 5;
    for (Statement row = database_->prepare(query); row.step(); text += "\n")
      for (int i = 0; i < columns; ++i) text += row.text(i) + "|";
  }
  return text;
}

}  // namespace gpusizer::ci
