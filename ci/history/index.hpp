// SPDX-License-Identifier: Apache-2.0
// The index over the run files: figures by series, in order of time. Everything in it comes from the files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ci/history/sqlite.hpp"
#include "reports/record/record.hpp"

namespace gpusizer::ci {

// What makes one series: a driver or another GPU begins a new one.
struct SeriesKey {
  std::string case_id, metric, identity, environment;  // the hashes of the fingerprint
  std::string unit;
  record::Better better = record::Better::higher;
  record::Scope scope = record::Scope::job;
  record::Provenance provenance = record::Provenance::measured;

  std::int64_t id() const;  // 63 bits of a SHA-256 of the above: the same in every index
  friend bool operator==(const SeriesKey&, const SeriesKey&) = default;
};

SeriesKey key_of(const record::Case& run, const record::Metric& metric);

struct Point {
  std::int64_t time_ms = 0, run = 0;
  double value = 0, within = 0;  // within: half width within the run as a share, 0 when not known
  std::string commit;
  record::Case state;            // fingerprint.state and validity_flags only: for veto_by_state()
};

struct SeriesSummary {
  SeriesKey key;
  std::int64_t runs = 0, last_ms = 0;
};

struct RunRow {
  std::int64_t id = 0, time_ms = 0;
  std::string file, commit, branch;
};

class Index {
 public:
  // Opens it, making it anew when it is missing, of another version or damaged. The caller holds the FolderLock.
  explicit Index(const std::filesystem::path& path);

  // Takes in what lies in `reports` and is not in the index, and drops what is gone. Returns how many runs changed.
  std::size_t follow(const std::filesystem::path& reports);
  void forget_everything();

  std::vector<SeriesSummary> series() const;
  std::vector<SeriesKey> series_of(const std::string& case_id, const std::string& metric) const;
  std::vector<std::string> former_ids(const std::string& case_id, const std::string& metric) const;
  // The newest `most` points of a series on a branch, oldest first.
  std::vector<Point> points(std::int64_t series, const std::string& branch, std::size_t most) const;
  std::vector<RunRow> newest_runs(const std::string& branch, std::size_t most) const;  // newest first
  record::StringMap environment(const std::string& hash) const;
  // Everything as text in a fixed order: two indexes of the same files are equal here.
  std::string dump() const;

 private:
  void make_tables();
  void insert(const record::Report& report, const std::string& file);

  std::filesystem::path path_;
  std::optional<Database> database_;
};

}  // namespace gpusizer::ci
