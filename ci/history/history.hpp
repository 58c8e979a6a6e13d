// SPDX-License-Identifier: Apache-2.0
// The history of runs in a folder: reports/ and accepted/ hold what counts, index.sqlite only finds it quickly.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ci/history/acceptance.hpp"
#include "ci/history/index.hpp"
#include "ci/history/run_file.hpp"

namespace gpusizer::ci {

class History {
 public:
  // `may_make`: make the folder when it is not there; else Error(input). Taking in files that others have put there is
  // part of opening, and so is making the index again when it is lost.
  History(const std::filesystem::path& folder, bool may_make);

  struct Added {
    std::string file;     // below reports/
    bool is_new = true;   // false: this very report was there already
  };
  // When it returns, the report is on the disk and in the index, whatever happens afterwards. Step times that lie in files beside
  // a report stay where they are: the block means in the report stand for them.
  Added add(const record::Report& report, const Origin& origin);

  // Removes the runs of the branch beyond the newest `keep`. Returns the files, removed unless `dry_run`.
  std::vector<std::string> prune(const std::string& branch, std::size_t keep, bool dry_run);

  void accept(const Acceptance& acceptance);
  std::size_t rebuild();  // the index, from the files; returns the number of runs

  const Index& index() const { return index_; }
  const std::vector<Acceptance>& acceptances() const { return acceptances_; }
  record::Report report(const std::string& file) const;

 private:
  std::filesystem::path folder_;
  Index index_;
  std::vector<Acceptance> acceptances_;
};

}  // namespace gpusizer::ci
