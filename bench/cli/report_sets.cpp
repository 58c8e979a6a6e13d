// SPDX-License-Identifier: Apache-2.0
// Tells base and new apart, and reads them.
#include "bench/cli/report_sets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "gpusizer/error.hpp"
#include "reports/record/report_file.hpp"

namespace gpusizer::cli {
namespace {

namespace fs = std::filesystem;

struct Words {
  std::vector<std::string> base, fresh;
};

Words split(const std::vector<std::string>& words, const std::vector<std::string>& base, const std::string& command) {
  const auto separator = std::find(words.begin(), words.end(), "vs");
  const std::string hint = fmt::format("write gpusizer {} BASE... vs NEW..., or --base BASE for each of the base", command);
  if (words.empty()) throw Error(Fault::usage, "no report was named", "", hint);
  if (separator != words.end()) {
    if (!base.empty()) throw Error(Fault::usage, "the base is given twice: by --base and before vs", "--base", hint);
    if (separator + 1 == words.end()) throw Error(Fault::usage, "no new report follows vs", "", hint);
    return {{words.begin(), separator}, {separator + 1, words.end()}};
  }
  if (!base.empty()) return {base, words};
  if (words.size() == 1) return {{}, words};
  if (words.size() == 2) return {{words[0]}, {words[1]}};
  throw Error(Fault::usage, "of three and more reports it is not clear which are the base", "", hint);
}

std::vector<record::Report> read_all(const std::vector<std::string>& paths, std::vector<std::string>& files) {
  std::vector<record::Report> reports;
  for (const std::string& path : paths)
    for (const std::string& file : files_at(path)) {
      reports.push_back(record::read_report(file));
      files.push_back(file);
    }
  return reports;
}

}  // namespace

std::vector<std::string> files_at(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return {path};
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(path, error))
    if (entry.path().extension() == ".json" && !entry.path().filename().string().starts_with(".")) files.push_back(entry.path().string());
  if (error) throw Error(Fault::input, "cannot read the folder: " + error.message(), path);
  std::sort(files.begin(), files.end());
  return files;
}

ReportSets read_sets(const std::vector<std::string>& words, const std::vector<std::string>& base, const std::string& command) {
  const Words paths = split(words, base, command);
  ReportSets sets;
  std::error_code error;
  const bool nothing_there = std::none_of(paths.base.begin(), paths.base.end(), [&](const auto& p) { return fs::exists(p, error); });
  if (!nothing_there) sets.base = read_all(paths.base, sets.files);
  else if (!paths.base.empty()) sets.warnings.push_back(fmt::format("there is no baseline: {} does not exist", paths.base.front()));
  sets.fresh = read_all(paths.fresh, sets.files);
  if (sets.fresh.empty()) throw Error(Fault::failed, "nothing was measured: there is no new report", paths.fresh.front());
  return sets;
}

}  // namespace gpusizer::cli
