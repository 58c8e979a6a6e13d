// SPDX-License-Identifier: Apache-2.0
// Forecasting from CSV files: windows over a series with a date column, split by time, scaled by its training part.
#pragma once

#include <filesystem>
#include <memory>

#include "workloads/data/data_options.hpp"
#include "workloads/data/series_windows.hpp"

namespace gpusizer {

// Hands out the windows of a series, of which there is one for each step: sample i begins one step after sample i - 1.
// Fields: "values" f32 [window, features], and "targets" f32 [horizon x targets], all targets of one step together;
// both scaled. More samples than windows go through the windows again.
class SeriesSource final : public SampleSource {
 public:
  SeriesSource(SourceFacts facts, SeriesWindows series);

  const SeriesWindows& series() const { return series_; }
  // Of naive_forecast.hpp; `train` is not looked at.
  std::vector<std::pair<std::string, double>> baselines(const SampleSource& train) const override;

 private:
  void read_sample(int64_t index, const SampleContext& context, std::span<void* const> values) const override;

  SeriesWindows series_;
};

// Steps of a series: the first 70 % are for training, the next 10 % for validation (kept apart, not used), the last
// 20 % for the test.
struct SeriesSplit {
  int64_t train_end = 0, test_begin = 0, steps = 0;
};
SeriesSplit split_by_time(int64_t steps);

// The file at `path`, with the columns of options.series and a window of 96 and a horizon of 24 unless it says
// otherwise. A training window lies in the training part with its targets. A test window's targets all lie in the test
// part, its input may reach back before it, as it would in use. Mean and deviation of each column are those of the
// training part; a column that does not change there keeps its units (deviation 1). Missing values repeat the one
// before, rows are taken as neighbours across gaps; facts().preparation tells how many there are. Throws Error as
// read_series_table() does, and usage when the part is too short for one window.
std::unique_ptr<SampleSource> open_csv_series(const std::string& path, const DataOptions& options);

// A file by its ending: .csv or .tsv.
bool looks_like_csv(const std::filesystem::path& path);

inline constexpr int64_t default_series_window = 96,
                         default_series_horizon = 24;  // four days in, one out, hour by hour
// Sets what targets are counted from by its word; steps before `train_end` are of the training part. Throws Error(usage)
// for another word, or where there is no season.
void set_target_base(SeriesWindows& series, const std::string& word, int64_t train_end, const std::string& source);
// Throws Error(usage) for a window or horizon that cannot be; 0 becomes the default.
SeriesOptions checked_series_options(SeriesOptions options, const std::string& source);

}  // namespace gpusizer
