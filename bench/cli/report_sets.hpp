// SPDX-License-Identifier: Apache-2.0
// Words of a command line -> the reports of a base and the new ones.
#pragma once

#include <string>
#include <vector>

#include "reports/record/record.hpp"

namespace gpusizer::cli {

struct ReportSets {
  std::vector<record::Report> base, fresh;
  std::vector<std::string> files;     // all that were read
  std::vector<std::string> warnings;  // sentences for standard error
};

// `words`: NEW | BASE NEW | BASE... vs NEW...; with `base` (of --base) all words are new ones. A folder stands for the
// *.json files in it. When none of the base's paths exists there is no baseline, and a warning says so.
// Throws Error(usage) for words that cannot be told apart, Error(input) for unreadable files.
ReportSets read_sets(const std::vector<std::string>& words, const std::vector<std::string>& base, const std::string& command);

// The *.json files of a folder in order, or the path itself.
std::vector<std::string> files_at(const std::string& path);

}  // namespace gpusizer::cli
