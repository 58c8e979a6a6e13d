// SPDX-License-Identifier: Apache-2.0
// Names and contents of run files.
#include "ci/history/run_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "gpusizer/error.hpp"
#include "reports/record/sha256.hpp"

namespace gpusizer::ci {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono;

constexpr const char* kField = "history";
constexpr std::size_t kHashDigits = 16;

int number_at(const std::string& text, std::size_t at, std::size_t digits) { return std::atoi(text.substr(at, digits).c_str()); }

}  // namespace

record::Report with_origin(record::Report report, const Origin& origin) {
  std::erase_if(report.unknown, [](const auto& field) { return field.first == kField; });
  const std::string commit = origin.commit.empty() ? report.tool.git_commit : origin.commit;
  const nlohmann::ordered_json field = {{"commit", commit}, {"branch", origin.branch}};
  report.unknown.emplace_back(kField, field.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  return report;
}

Origin origin_of(const record::Report& report) {
  Origin origin{.commit = report.tool.git_commit, .branch = "main"};
  for (const auto& [name, text] : report.unknown) {
    if (name != kField) continue;
    const auto field = nlohmann::json::parse(text, nullptr, false);
    if (!field.is_object()) continue;
    if (field.contains("commit") && field["commit"].is_string()) origin.commit = field["commit"];
    if (field.contains("branch") && field["branch"].is_string()) origin.branch = field["branch"];
  }
  return origin;
}

// The shape was checked when the report was read.
std::int64_t milliseconds_of(const std::string& utc) {
  if (utc.size() < 20) throw Error(Fault::input, "the report says no time of its creation", "created_utc");
  const auto day = sys_days(year(number_at(utc, 0, 4)) / number_at(utc, 5, 2) / number_at(utc, 8, 2));
  const auto time = hours(number_at(utc, 11, 2)) + minutes(number_at(utc, 14, 2)) + seconds(number_at(utc, 17, 2));
  std::string fraction = utc[19] == '.' ? utc.substr(20, utc.size() - 21) : "";
  fraction.resize(3, '0');
  return duration_cast<milliseconds>(day.time_since_epoch() + time).count() + number_at(fraction, 0, 3);
}

std::string utc_of(std::int64_t since_1970) {
  const auto time = sys_time<milliseconds>(milliseconds(since_1970));
  const auto day = floor<days>(time);
  const year_month_day date(day);
  const hh_mm_ss clock(floor<seconds>(time - day));
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", int(date.year()), unsigned(date.month()), unsigned(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

std::string run_file_name(const record::Report& report, const std::string& text) {
  std::string stamp = utc_of(milliseconds_of(report.created_utc));
  const std::string month = stamp.substr(0, 7);
  std::erase_if(stamp, [](char c) { return c == '-' || c == ':'; });
  return month + "/" + stamp + "-" + record::sha256(text).substr(0, kHashDigits) + ".json";
}

std::int64_t run_id_of(const std::string& name) {
  const std::size_t dash = name.rfind('-');
  return static_cast<std::int64_t>(std::strtoull(name.substr(dash + 1, kHashDigits - 1).c_str(), nullptr, 16));
}

std::vector<std::string> run_files(const fs::path& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& month : fs::directory_iterator(folder, error)) {
    if (!month.is_directory(error)) continue;
    const std::string name = month.path().filename().string();
    for (const auto& file : fs::directory_iterator(month.path(), error)) {
      const std::string base = file.path().filename().string();
      if (!base.starts_with(".") && base.ends_with(".json") && base.rfind('-') != std::string::npos) files.push_back(name + "/" + base);
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace gpusizer::ci
