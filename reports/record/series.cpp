// SPDX-License-Identifier: Apache-2.0
// Long series of step times: out of the report into a hashed file, and back.
#include "reports/record/series.hpp"

#include <charconv>
#include <cmath>

#include "gpusizer/error.hpp"
#include "reports/record/atomic_file.hpp"
#include "reports/record/number_text.hpp"
#include "reports/record/sha256.hpp"
#include "reports/record/statistics.hpp"

namespace gpusizer::record {
namespace {

constexpr std::int64_t largest_series_bytes = std::int64_t{1} << 30;

// The name comes from an untrusted report: a plain name in the same folder, nothing else.
bool is_plain_file_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos &&
         name.find('\0') == std::string::npos;
}

std::string read_checked(const SeriesFile& file, const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(std::filesystem::symlink_status(path, error)))
    throw Error(Fault::input, "the file with the step times of the report is missing", path.string(),
                "keep it in the folder of the report");
  if (file.bytes > largest_series_bytes)
    throw Error(Fault::input, "the file with the step times of the report is larger than 1 GiB", path.string());
  const std::string text = read_whole_file(path, static_cast<std::size_t>(largest_series_bytes));
  if (static_cast<std::int64_t>(text.size()) != file.bytes || sha256(text) != file.sha256)
    throw Error(Fault::input, "the file with the step times is not the one that the report was written with",
                path.string(), "its size or SHA-256 differs from the report's");
  return text;
}

}  // namespace

std::vector<double> block_means(std::span<const double> values, std::size_t block_steps) {
  std::vector<double> means;
  for (std::size_t at = 0; at < values.size(); at += block_steps)
    means.push_back(mean(values.subspan(at, std::min(block_steps, values.size() - at))));
  return means;
}

std::string series_text(std::span<const double> values) {
  std::string text;
  for (const double value : values) text += shortest_text(value) + '\n';
  return text;
}

std::vector<double> series_from_text(std::string_view text, const std::string& file_name) {
  std::vector<double> values;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    double value = 0;
    const char* const stop = text.data() + std::min(end, text.size());
    const auto parsed = std::from_chars(text.data(), stop, value);
    if (end == std::string_view::npos || parsed.ec != std::errc() || parsed.ptr != stop || !std::isfinite(value) ||
        !(value > 0))
      throw Error(Fault::input, "a line is not a time in seconds above 0",
                  file_name + ", line " + std::to_string(values.size() + 1));
    values.push_back(value);
    text.remove_prefix(end + 1);
  }
  return values;
}

MovedSeries move_series_out(Measurement measurement, const std::string& stem) {
  std::string text = series_text(measurement.step_seconds);
  MovedSeries moved{std::move(measurement), std::move(text)};
  Measurement& m = moved.measurement;
  const std::size_t steps = m.step_seconds.size();
  const std::size_t block = (steps + inline_steps_limit - 1) / inline_steps_limit;
  const std::string hash = sha256(moved.text);
  m.block_steps = static_cast<std::int64_t>(block);
  m.block_mean_seconds = block_means(m.step_seconds, block);
  m.step_seconds.clear();
  m.series_file = SeriesFile{stem + ".steps-" + hash.substr(0, 16) + ".txt", hash,
                             static_cast<std::int64_t>(moved.text.size()), static_cast<std::int64_t>(steps), {}};
  return moved;
}

Measurement load_series(Measurement measurement, const std::filesystem::path& folder) {
  if (!measurement.series_file) return measurement;
  const SeriesFile& file = *measurement.series_file;
  if (!is_plain_file_name(file.name))
    throw Error(Fault::input, "the report names a file of step times outside of its own folder", file.name);
  const std::filesystem::path path = folder / file.name;
  measurement.step_seconds = series_from_text(read_checked(file, path), path.string());
  if (static_cast<std::int64_t>(measurement.step_seconds.size()) != file.steps)
    throw Error(Fault::input, "the file does not hold as many step times as the report says", path.string());
  measurement.block_mean_seconds.clear();
  measurement.block_steps = 1;
  measurement.series_file.reset();
  return measurement;
}

}  // namespace gpusizer::record
