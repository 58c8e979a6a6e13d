// SPDX-License-Identifier: Apache-2.0
// Cuts a series into training, validation and test part, and tells what was done with it.
#include "workloads/data/series_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gpusizer/error.hpp"
#include "workloads/data/date_text.hpp"
#include "workloads/data/naive_forecast.hpp"
#include "workloads/data/series_scaling.hpp"

namespace gpusizer {

namespace {

constexpr int64_t most_window_steps = int64_t{1} << 20;
constexpr int64_t train_percent = 70, before_test_percent = 80;
constexpr size_t most_columns_told = 8;

// The steps whose values a part's windows may forecast.
struct SeriesPart {
  const char* name;
  int64_t begin, end;
};

SeriesPart part_of(Split split, const SeriesSplit& at) {
  if (split == Split::train) return {"training", 0, at.train_end};
  return {"test", at.test_begin, at.steps};
}

// All windows whose targets lie in the part; for their input they may reach back before it.
void place_windows(SeriesWindows& series, const SeriesPart& part, const SeriesTable& table) {
  series.first = std::max<int64_t>(0, part.begin - series.window);
  series.count = part.end - series.horizon - series.origin(0) + 1;
  if (series.count >= 1) return;
  throw Error(Fault::usage,
              fmt::format("the {} part has {} of the {} time steps: not enough for a window of {} and a horizon of {}",
                          part.name, part.end - part.begin, table.steps(), series.window, series.horizon),
              table.location, "choose shorter ones or a longer series");
}

std::string describe_scaling(const SeriesTable& table, const std::vector<ColumnScaling>& scaling) {
  std::string text;
  for (size_t i = 0; i < std::min(scaling.size(), most_columns_told); ++i) {
    text += fmt::format("{}{} {:.6g} and {:.6g}", i == 0 ? "" : ", ", table.columns[i], scaling[i].mean,
                        scaling[i].deviation);
  }
  if (scaling.size() > most_columns_told) text += fmt::format(", and {} more", scaling.size() - most_columns_told);
  return text;
}

std::string describe_missing(const SeriesTable& table) {
  std::string text =
      table.filled == 0 ? "no value was missing" : fmt::format("{} missing values repeat the one before", table.filled);
  if (table.dropped > 0) text += fmt::format(", {} rows dropped at the start", table.dropped);
  if (!table.left_out.empty())
    text += fmt::format("; columns without numbers left out: {}", fmt::join(table.left_out, ", "));
  return text;
}

std::string describe_series(const SeriesTable& table, const SeriesSplit& at,
                            const std::vector<ColumnScaling>& scaling) {
  const auto date = [&](int64_t step) { return date_text(table.dates_us[static_cast<size_t>(step)]); };
  return fmt::format(
      "{} time steps from {} to {}, {}; training to {}, test from {}, its inputs reach back before that; {}; scaled by "
      "mean and deviation of the training part: {}",
      table.steps(), date(0), date(at.steps - 1), table.step.text(), date(std::max<int64_t>(0, at.train_end - 1)),
      date(at.test_begin), describe_missing(table), describe_scaling(table, scaling));
}

std::string describe_base(TargetBase base) {
  if (base == TargetBase::none) return "";
  return base == TargetBase::last ? "; targets are the change from the last value"
                                  : "; values and targets are the change over a season, in units of its spread in training";
}

std::vector<Field> series_fields(const SeriesWindows& series) {
  return {{"values", ValueType::f32, {series.window, series.features}},
          {"targets", ValueType::f32, {series.horizon * static_cast<int64_t>(series.targets.size())}}};
}

}  // namespace

SeriesSource::SeriesSource(SourceFacts facts, SeriesWindows series)
    : SampleSource(std::move(facts), {series_fields(series)}), series_(std::move(series)) {}

std::vector<std::pair<std::string, double>> SeriesSource::baselines(const SampleSource&) const {
  return naive_forecasts(series_);
}

void SeriesSource::read_sample(int64_t index, const SampleContext&, std::span<void* const> values) const {
  const int64_t place = index % series_.count;
  auto* input = static_cast<float*>(values[0]);
  for (int64_t step = series_.first + place; step < series_.origin(place); ++step)
    for (int64_t column = 0; column < series_.features; ++column)
      *input++ = static_cast<float>(series_.seen(step, column));
  auto* output = static_cast<float*>(values[1]);
  const int64_t origin = series_.origin(place);
  for (int64_t step = 0; step < series_.horizon; ++step) {
    for (const int64_t target : series_.targets)
      *output++ = static_cast<float>((series_.value(origin + step, target) -
                                      series_.naive(series_.base, origin, step, target)) / series_.target_unit(target));
  }
}

namespace {

// The spread of each column's change over a season in the steps before `end`.
std::vector<double> change_deviations(const SeriesWindows& series, int64_t end) {
  std::vector<double> result;
  for (int64_t column = 0; column < series.columns; ++column) {
    double squares = 0;
    for (int64_t step = series.season; step < end; ++step) {
      const double change = series.value(step, column) - series.value(step - series.season, column);
      squares += change * change;
    }
    const double deviation = std::sqrt(squares / static_cast<double>(std::max<int64_t>(1, end - series.season)));
    result.push_back(deviation > 0 ? deviation : 1);
  }
  return result;
}

// The first window's first step needs a season before it: windows that have none are left out.
void make_room_for_season(SeriesWindows& series, const std::string& source) {
  const int64_t late = std::max<int64_t>(0, series.season - series.first);
  if (series.season > 0 && late < series.count) {
    series.first += late;
    series.count -= late;
    return;
  }
  throw Error(Fault::usage,
              series.season <= 0 ? std::string("no season is known for this time step")
                                 : fmt::format("a season has {} steps, and there is none before any window", series.season),
              source, "use --target-base last");
}

}  // namespace

void set_target_base(SeriesWindows& series, const std::string& word, int64_t train_end, const std::string& source) {
  if (word.empty() || word == "none") return;
  if (word != "last" && word != "season")
    throw Error(Fault::usage, fmt::format("targets cannot be counted from '{}'", word), "--target-base",
                "use none, last or season");
  series.base = word == "last" ? TargetBase::last : TargetBase::season;
  if (series.base == TargetBase::last) return;
  make_room_for_season(series, source);
  series.change_deviations = change_deviations(series, train_end);
}

SeriesSplit split_by_time(int64_t steps) {
  return {steps / 100 * train_percent + steps % 100 * train_percent / 100,
          steps / 100 * before_test_percent + steps % 100 * before_test_percent / 100, steps};
}

bool looks_like_csv(const std::filesystem::path& path) {
  std::error_code ignored;
  return (path.extension() == ".csv" || path.extension() == ".tsv") && std::filesystem::is_regular_file(path, ignored);
}

SeriesOptions checked_series_options(SeriesOptions options, const std::string& source) {
  if (options.window == 0) options.window = default_series_window;
  if (options.horizon == 0) options.horizon = default_series_horizon;
  for (const auto& [value, name] : {std::pair{options.window, "window"}, std::pair{options.horizon, "horizon"}}) {
    if (value >= 1 && value <= most_window_steps) continue;
    throw Error(Fault::usage,
                fmt::format("the {} is {} time steps; it must be 1 to {}", name, value, most_window_steps), source);
  }
  return options;
}

std::unique_ptr<SampleSource> open_csv_series(const std::string& path, const DataOptions& options) {
  const SeriesOptions wanted = checked_series_options(options.series, path);
  const SeriesTable table = read_series_table(
      path, {.date = wanted.date_column, .features = wanted.columns, .targets = wanted.targets, .rows = wanted.rows});
  const SeriesSplit at = split_by_time(table.steps());
  SeriesWindows series{.columns = static_cast<int64_t>(table.columns.size()),
                       .features = table.features,
                       .targets = table.targets,
                       .window = wanted.window,
                       .horizon = wanted.horizon,
                       .season = table.step.season};
  place_windows(series, part_of(options.split, at), table);
  const std::vector<ColumnScaling> scaling = fit_scaling(table, std::max<int64_t>(1, at.train_end));
  series.values = scaled_values(table, scaling);
  set_target_base(series, wanted.target_base, at.train_end, path);
  for (const int64_t target : series.targets)
    series.deviations.push_back(scaling[static_cast<size_t>(target)].deviation);
  SourceFacts facts{.name = "csv", .location = path, .size = series.count};
  facts.preparation = describe_series(table, at, scaling) + describe_base(series.base);
  facts.features = series.features;
  facts.window = series.window;
  facts.horizon = series.horizon;
  return std::make_unique<SeriesSource>(std::move(facts), std::move(series));
}

}  // namespace gpusizer
