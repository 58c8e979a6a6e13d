// SPDX-License-Identifier: Apache-2.0
// Files first, index second: what was acknowledged survives a kill between the two.
#include "ci/history/history.hpp"

#include "ci/history/folder_lock.hpp"
#include "gpusizer/error.hpp"
#include "reports/record/atomic_file.hpp"
#include "reports/record/json.hpp"
#include "reports/record/report_file.hpp"

namespace gpusizer::ci {
namespace {

namespace fs = std::filesystem;

fs::path ready(const fs::path& folder, bool may_make) {
  std::error_code error;
  if (fs::is_directory(folder, error)) return folder;
  if (!may_make) throw Error(Fault::input, "there is no history in this folder", folder.string(), "begin one with gpusizer history add REPORT --dir FOLDER");
  fs::create_directories(folder, error);
  if (error) throw Error(Fault::environment, "cannot make the folder of the history: " + error.message(), folder.string());
  return folder;
}

Index caught_up(const fs::path& folder) {
  const FolderLock lock(folder);
  Index index(folder / "index.sqlite");
  index.follow(folder / "reports");
  return index;
}

}  // namespace

History::History(const fs::path& folder, bool may_make)
    : folder_(ready(folder, may_make)), index_(caught_up(folder_)), acceptances_(read_acceptances(folder_ / "accepted")) {}

History::Added History::add(const record::Report& report, const Origin& origin) {
  const record::Report kept = with_origin(report, origin);
  const std::string text = record::to_json(kept);
  const std::string name = run_file_name(kept, text);
  const fs::path path = folder_ / "reports" / name;
  const FolderLock lock(folder_);
  std::error_code error;
  const bool is_new = !fs::exists(path, error);
  if (is_new) {
    fs::create_directories(path.parent_path(), error);
    if (error) throw Error(Fault::environment, "cannot make a folder of the history: " + error.message(), path.parent_path().string());
    record::write_file_atomically(path, text);
  }
  index_.follow(folder_ / "reports");
  return {name, is_new};
}

std::vector<std::string> History::prune(const std::string& branch, std::size_t keep, bool dry_run) {
  const FolderLock lock(folder_);
  std::vector<std::string> files;
  const std::vector<RunRow> runs = index_.newest_runs(branch, std::size_t{1} << 30u);
  for (std::size_t i = keep; i < runs.size(); ++i) files.push_back(runs[i].file);
  if (dry_run || files.empty()) return files;
  for (const std::string& file : files) fs::remove(folder_ / "reports" / file);
  index_.follow(folder_ / "reports");
  return files;
}

void History::accept(const Acceptance& acceptance) {
  const FolderLock lock(folder_);
  write_acceptance(folder_ / "accepted", acceptance);
  acceptances_ = read_acceptances(folder_ / "accepted");
}

std::size_t History::rebuild() {
  const FolderLock lock(folder_);
  index_.forget_everything();
  return index_.follow(folder_ / "reports");
}

record::Report History::report(const std::string& file) const { return record::read_report(folder_ / "reports" / file); }

}  // namespace gpusizer::ci
