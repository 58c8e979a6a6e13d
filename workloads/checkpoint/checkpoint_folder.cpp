// SPDX-License-Identifier: Apache-2.0
// Names of checkpoint files, and tidying up among them.
#include "workloads/checkpoint/checkpoint_folder.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

#include "gpusizer/error.hpp"
#include "workloads/checkpoint/replaced_file.hpp"

namespace gpusizer {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view suffix = ".safetensors";
constexpr std::size_t kept = 2;

// Case ids have slashes and '#', and a model's name may be anything.
std::string file_name_part(std::string id) {
  const auto harmless = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '.' ||
           c == '_';
  };
  std::replace_if(
      id.begin(), id.end(), [&](char c) { return !harmless(c); }, '_');
  if (id.starts_with('.')) id.front() = '_';
  return id;
}

// N of "<stem>N<end>", or nothing when the name is another.
std::optional<std::int64_t> step_in(std::string_view name, std::string_view stem, std::string_view end) {
  if (!name.starts_with(stem) || !name.ends_with(end) || name.size() <= stem.size() + end.size()) return std::nullopt;
  const std::string_view digits = name.substr(stem.size(), name.size() - stem.size() - end.size());
  std::int64_t step = -1;
  const auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), step);
  if (error != std::errc{} || rest != digits.data() + digits.size() || step < 0) return std::nullopt;
  return step;
}

std::vector<StoredCheckpoint> files_of(const fs::path& folder, const std::string& stem, const std::string& end) {
  std::vector<StoredCheckpoint> found;
  std::error_code error;
  if (!fs::exists(folder, error) && !error) return found;
  for (fs::directory_iterator entry(folder, error), last; !error && entry != last; entry.increment(error))
    if (const auto step = step_in(entry->path().filename().string(), stem, end))
      found.push_back({entry->path(), *step});
  if (error)
    throw Error(Fault::environment, "the folder of checkpoints cannot be read: " + error.message(), folder.string(),
                "choose another --checkpoint folder");
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.step > b.step; });
  return found;
}

}  // namespace

CheckpointFolder::CheckpointFolder(fs::path folder, const std::string& case_id)
    : folder_(std::move(folder)), stem_(file_name_part(case_id) + "-step-") {}

void CheckpointFolder::require_writable() const {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error)
    throw Error(Fault::environment, "the folder of checkpoints cannot be made: " + error.message(), folder_.string(),
                "choose another --checkpoint folder");
  const fs::path probe = folder_ / (stem_ + "probe");
  ReplacedFile(probe).finish();
  fs::remove(probe, error);
}

fs::path CheckpointFolder::path_of(std::int64_t step) const {
  return folder_ / (stem_ + std::to_string(step) + std::string(suffix));
}

std::vector<StoredCheckpoint> CheckpointFolder::newest_first() const {
  return files_of(folder_, stem_, std::string(suffix));
}

void CheckpointFolder::tidy(std::int64_t step) const {
  std::error_code ignored;  // what cannot be removed only takes room
  std::size_t good = 0;
  for (const StoredCheckpoint& one : newest_first())
    if (one.step > step || ++good > kept) fs::remove(one.path, ignored);
  for (const StoredCheckpoint& one : files_of(folder_, stem_, std::string(suffix) + std::string(unfinished_suffix)))
    fs::remove(one.path, ignored);
}

}  // namespace gpusizer
