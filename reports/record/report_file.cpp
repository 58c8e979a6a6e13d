// SPDX-License-Identifier: Apache-2.0
// A report on disk: series files first, then the report that names them.
#include "reports/record/report_file.hpp"

#include <system_error>
#include <vector>

#include "gpusizer/error.hpp"
#include "reports/record/atomic_file.hpp"
#include "reports/record/json.hpp"
#include "reports/record/series.hpp"
#include "reports/record/sha256.hpp"

namespace gpusizer::record {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t largest_report_bytes = 256u << 20u;

// Files that a failed write takes back: only those that it has made itself.
class Undo {
 public:
  ~Undo() {
    std::error_code ignored;
    for (const fs::path& path : made_) fs::remove(path, ignored);
  }
  void made(const fs::path& path) { made_.push_back(path); }
  void keep() { made_.clear(); }

 private:
  std::vector<fs::path> made_;
};

bool holds_already(const fs::path& path, const std::string& text) {
  std::error_code error;
  return fs::is_regular_file(path, error) && fs::file_size(path, error) == text.size() &&
         read_whole_file(path, text.size()) == text;
}

// A report is written after every case; a series that is there already is not written again.
void write_series(const fs::path& path, const std::string& text, Undo& undo) {
  std::error_code error;
  if (holds_already(path, text)) return;
  if (!fs::exists(path, error)) undo.made(path);
  write_file_atomically(path, text);
}

}  // namespace

void write_report(const fs::path& path, const Report& report) {
  Undo undo;
  Report written = report;
  for (Case& run : written.cases) {
    if (run.measurement.step_seconds.size() <= inline_steps_limit) continue;
    MovedSeries moved = move_series_out(std::move(run.measurement), path.stem().string());
    write_series(path.parent_path() / moved.measurement.series_file->name, moved.text, undo);
    run.measurement = std::move(moved.measurement);
  }
  write_file_atomically(path, to_json(written));
  undo.keep();
}

Report read_report(const fs::path& path, Series series) {
  Report report = report_from_json(read_whole_file(path, largest_report_bytes), path.string());
  if (series == Series::load)
    for (Case& run : report.cases) run.measurement = load_series(std::move(run.measurement), path.parent_path());
  return report;
}

}  // namespace gpusizer::record
