// SPDX-License-Identifier: Apache-2.0
// Replaces the flags of a layout in the words of a command.
#include "bench/cli/other_layout.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace gpusizer::cli {
namespace {

constexpr std::array<std::string_view, 11> kLayoutFlags = {
    "devices",       "parallel", "stages",       "pipeline-schedule", "shard-optimizer", "recompute",
    "bucket-mib",    "wire",     "comm-timeout", "inject-fault",      "threads"};

// "--devices=4" -> "devices"; empty for what is no flag.
std::string flag_name(const std::string& word) {
  if (!word.starts_with("--")) return "";
  return word.substr(2, word.find('=') == std::string::npos ? std::string::npos : word.find('=') - 2);
}

// A new --parallel or --devices speaks for both, and what only the old one had goes with it.
std::set<std::string> replaced_by(const Arguments& flags) {
  std::set<std::string> names{"batch", "scaling", "checkpoint-of"};
  for (const std::string& word : flags)
    if (const std::string name = flag_name(word); !name.empty()) names.insert(name);
  if (names.contains("parallel") || names.contains("devices")) names.insert({"parallel", "devices", "stages"});
  return names;
}

}  // namespace

std::span<const std::string_view> layout_flags() { return kLayoutFlags; }

Arguments changed_words(const Arguments& words, const LayoutChange& change) {
  const std::set<std::string> replaced = replaced_by(change.flags);
  Arguments result;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!replaced.contains(flag_name(words[i]))) result.push_back(words[i]);
    else if (words[i].find('=') == std::string::npos) ++i;  // its value
  }
  result.insert(result.end(), change.flags.begin(), change.flags.end());
  for (const auto& word : {std::string("--scaling"), std::string("strong"), std::string("--batch"),
                           std::to_string(change.job_batch), std::string("--checkpoint-of"), change.checkpoint_of})
    result.push_back(word);
  return result;
}

}  // namespace gpusizer::cli
