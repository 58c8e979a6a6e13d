// SPDX-License-Identifier: Apache-2.0
// The name of a report that nobody named: new for each run, however many start in the same second.
#pragma once

#include <filesystem>
#include <string>

namespace gpusizer::cli {

// Takes a name that no file has by making an empty file of it; gone again at the end unless a report was written there.
class DefaultOut {
 public:
  // "<folder>/gpusizer-<time>.json", or with -2, -3 ... before the point. Where no file can be made, the name alone:
  // who writes there says why it cannot be.
  DefaultOut(const std::filesystem::path& folder, const std::string& time);
  ~DefaultOut();
  DefaultOut(const DefaultOut&) = delete;
  DefaultOut& operator=(const DefaultOut&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  bool made_ = false;
};

}  // namespace gpusizer::cli
