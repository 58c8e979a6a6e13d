// SPDX-License-Identifier: Apache-2.0
// One report of every released version must be read for ever; and no damage to a report may do more than be refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "gpusizer/error.hpp"
#include "reports/record/atomic_file.hpp"
#include "reports/record/json.hpp"

namespace gpusizer::record {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> corpus() {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(fs::path(__FILE__).parent_path() / "corpus"))
    if (entry.path().extension() == ".json") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

// False when the text was refused as it should be; anything else than an Error fails the test.
bool is_read(std::string_view text) {
  try {
    report_from_json(text, "damaged.json");
    return true;
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::input) << error.what();
    EXPECT_EQ(error.where().rfind("damaged.json", 0), 0u) << error.what();
    return false;
  }
}

// Without the white space between tokens: the same reports in fewer bytes, so that every byte can be tried.
std::string compact(const std::string& text) {
  std::string dense;
  bool in_string = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '"' && (at == 0 || text[at - 1] != '\\')) in_string = !in_string;
    if (in_string || (text[at] != ' ' && text[at] != '\n')) dense += text[at];
  }
  return dense;
}

TEST(Corpus, EveryReleasedVersionIsRead) {
  ASSERT_FALSE(corpus().empty());
  for (const fs::path& path : corpus()) {
    const Report report = report_from_json(read_whole_file(path, 1u << 24), path.string());
    EXPECT_FALSE(report.cases.empty()) << path;
    EXPECT_EQ(report_from_json(to_json(report), path.string()), report) << path;
  }
}

TEST(Corpus, CutOffAtAnyByteItIsRefused) {
  for (const fs::path& path : corpus()) {
    const std::string text = compact(read_whole_file(path, 1u << 24));
    ASSERT_TRUE(is_read(text)) << path;
    for (std::size_t bytes = 0; bytes < text.size(); ++bytes)
      ASSERT_FALSE(is_read(std::string_view(text).substr(0, bytes))) << path << " cut at " << bytes;
  }
}

// Whatever a byte is changed into, the report is read or refused. (Every 31st byte: 31 and 15 have no common factor.)
TEST(Corpus, AnyByteChangedItIsReadOrRefused) {
  for (const fs::path& path : corpus()) {
    std::string text = read_whole_file(path, 1u << 24);
    std::size_t refused = 0;
    for (std::size_t at = 0; at < text.size(); at += 31) {
      const char kept = text[at];
      text[at] = "\"{}[],:0-9e.\x80 n"[at % 15];
      if (!is_read(text)) ++refused;
      text[at] = kept;
    }
    EXPECT_GT(refused, text.size() / 124);
  }
}

}  // namespace
}  // namespace gpusizer::record
