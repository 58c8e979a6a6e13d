// SPDX-License-Identifier: Apache-2.0
// Acceptances as JSON files.
#include "ci/history/acceptance.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "ci/compare/glob.hpp"
#include "ci/history/run_file.hpp"
#include "gpusizer/error.hpp"
#include "reports/record/atomic_file.hpp"
#include "reports/record/sha256.hpp"

namespace gpusizer::ci {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSchema = "gpusizer.acceptance/1";
constexpr std::size_t kLargest = 1u << 16u;

std::string text_at(const Json& tree, const char* name, const std::string& file) {
  if (!tree.contains(name) || !tree[name].is_string()) throw Error(Fault::input, std::string("the text \"") + name + "\" is missing", file);
  return tree[name].get<std::string>();
}

Acceptance parsed(const std::filesystem::path& path) {
  const std::string file = path.string();
  const Json tree = Json::parse(record::read_whole_file(path, kLargest), nullptr, false);
  if (!tree.is_object() || text_at(tree, "schema", file) != kSchema)
    throw Error(Fault::input, "the file is not an acceptance of this version", file, "remove it, or read it with a newer gpusizer");
  if (!tree.contains("from_ms") || !tree["from_ms"].is_number_integer()) throw Error(Fault::input, "\"from_ms\" is missing", file);
  return {text_at(tree, "case", file), text_at(tree, "metric", file), tree["from_ms"].get<std::int64_t>(), text_at(tree, "commit", file),
          text_at(tree, "author", file), text_at(tree, "reason", file), text_at(tree, "date_utc", file),
          text_at(tree, "kind", file) == "false_alarm"};
}

}  // namespace

void write_acceptance(const std::filesystem::path& folder, const Acceptance& a) {
  const Json tree = {{"schema", kSchema}, {"kind", a.false_alarm ? "false_alarm" : "accepted"}, {"case", a.case_pattern},
                     {"metric", a.metric_pattern}, {"from_utc", utc_of(a.from_ms)}, {"from_ms", a.from_ms}, {"commit", a.commit},
                     {"author", a.author}, {"reason", a.reason}, {"date_utc", a.date_utc}};
  const std::string text = tree.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  std::filesystem::create_directories(folder);
  record::write_file_atomically(folder / (a.date_utc.substr(0, 10) + "-" + record::sha256(text).substr(0, 16) + ".json"), text);
}

std::vector<Acceptance> read_acceptances(const std::filesystem::path& folder) {
  std::vector<Acceptance> all;
  std::error_code error;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (entry.path().extension() == ".json" && !entry.path().filename().string().starts_with(".")) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const auto& file : files) all.push_back(parsed(file));
  std::stable_sort(all.begin(), all.end(), [](const Acceptance& a, const Acceptance& b) { return a.from_ms < b.from_ms; });
  return all;
}

bool is_about(const Acceptance& acceptance, const std::string& case_id, const std::string& metric) {
  return matches(acceptance.case_pattern, case_id) && matches(acceptance.metric_pattern, metric);
}

}  // namespace gpusizer::ci
