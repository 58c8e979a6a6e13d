// SPDX-License-Identifier: Apache-2.0
// Windows of a series: the borders of the splits, scaling from the training part alone, naive forecasts by hand.
#include "workloads/data/series_source.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "workloads/data/data_sources.hpp"
#include "workloads/data/naive_forecast.hpp"
#include "workloads/data/series_scaling.hpp"
#include "workloads/data/synthetic_series.hpp"
#include "workloads/data/tests/made_files.hpp"

namespace gpusizer {
namespace {

using made::caught;
using made::expect_says;
using made::TempFolder;

// "x" is `value_of(step)` and "twice" two times that, one row for each hour from midnight.
template <class Value>
std::string hourly_csv(int steps, Value value_of) {
  std::string text = "date,x,twice\n";
  for (int step = 0; step < steps; ++step) {
    text += fmt::format("2024-01-{:02} {:02}:00,{},{}\n", 1 + step / 24, step % 24, value_of(step), 2 * value_of(step));
  }
  return text;
}

struct SeriesFile {
  explicit SeriesFile(const std::string& text) : path(folder.write("a.csv", made::Bytes(text.begin(), text.end()))) {}

  std::unique_ptr<SampleSource> open(Split split, SeriesOptions series) const {
    return open_csv_series(path.string(), {.split = split, .kind = DataKind::series, .series = std::move(series)});
  }

  TempFolder folder;
  std::filesystem::path path;
};

struct SeriesSample {
  std::vector<float> values, targets;
};

SeriesSample read_window(const SampleSource& source, int64_t index) {
  SeriesSample sample;
  sample.values.resize(static_cast<size_t>(source.fields()[0].values()));
  sample.targets.resize(static_cast<size_t>(source.fields()[1].values()));
  void* const places[] = {sample.values.data(), sample.targets.data()};
  source.read(index, {}, places);
  return sample;
}

std::map<std::string, double> errors_of(const SampleSource& source) {
  const auto pairs = source.baselines(source);
  return {pairs.begin(), pairs.end()};
}

TEST(SeriesSource, SplitsByTimeAndNoWindowCrossesTheBorder) {
  const SeriesFile file(hourly_csv(20, [](int step) { return step; }));
  const SeriesOptions wanted{.window = 3, .horizon = 2};
  const auto train = file.open(Split::train, wanted), test = file.open(Split::test, wanted);
  // 0 .. 13 are for training, 14 and 15 for validation, 16 .. 19 for the test: mean 6.5, variance (14^2 - 1) / 12.
  const double mean = 6.5, deviation = std::sqrt(195.0 / 12);
  const auto scaled = [&](double value) { return static_cast<float>((value - mean) / deviation); };
  ASSERT_EQ(train->size(), 14 - 3 - 2 + 1);
  ASSERT_EQ(test->size(), 20 - 16 - 2 + 1);
  EXPECT_EQ(train->fields()[0], (Field{"values", ValueType::f32, {3, 2}}));
  EXPECT_EQ(train->fields()[1], (Field{"targets", ValueType::f32, {2}}));
  const SeriesSample last = read_window(*train, train->size() - 1);
  EXPECT_FLOAT_EQ(last.targets[1], scaled(13));  // the last step of the training part
  EXPECT_FLOAT_EQ(last.values[0], scaled(9));
  EXPECT_FLOAT_EQ(last.values[1], scaled(9));  // twice as large, and scaled to the same
  const SeriesSample first = read_window(*test, 0);
  EXPECT_FLOAT_EQ(first.targets[0], scaled(16));  // the first step of the test part
  EXPECT_FLOAT_EQ(first.values[0], scaled(13));   // its input reaches back before it
  EXPECT_FLOAT_EQ(read_window(*test, 2).targets[1], scaled(19));
}

TEST(SeriesSource, TellsWhatItDid) {
  const SeriesFile file(hourly_csv(20, [](int step) { return step; }));
  const auto test = file.open(Split::test, {.window = 3, .horizon = 2});
  const SourceFacts& facts = test->facts();
  EXPECT_EQ(facts.features, 2);
  EXPECT_EQ(facts.window, 3);
  EXPECT_EQ(facts.horizon, 2);
  EXPECT_EQ(facts.location, file.path.string());
  for (const char* part :
       {"20 time steps from 2024-01-01 to 2024-01-01 19:00, steps of 1 hour; ", "training to 2024-01-01 13:00",
        "test from 2024-01-01 16:00", "no value was missing", "x 6.5 and 4.03113", "twice 13 and 8.06226"})
    EXPECT_NE(facts.preparation.find(part), std::string::npos) << part << " is not in: " << facts.preparation;
}

TEST(SeriesSource, TellsOfGapsAndMissingValues) {
  const SeriesFile file(
      "date,x\n2024-01-05,NA\n2024-01-06,1\n2024-01-07,2\n2024-01-08,NA\n2024-01-09,4\n2024-01-13,5\n");
  const auto train = file.open(Split::train, {.window = 1, .horizon = 1});
  const std::string& told = train->facts().preparation;
  for (const char* part : {"5 time steps from 2024-01-06", "steps of 1 day, 1 gap (of 4 days)",
                           "1 missing values repeat the one before, 1 rows dropped at the start"})
    EXPECT_NE(told.find(part), std::string::npos) << part << " is not in: " << told;
}

TEST(SeriesSource, ScalesByTheTrainingPartAlone) {
  const SeriesFile calm(hourly_csv(20, [](int step) { return step; }));
  const SeriesFile wild(hourly_csv(20, [](int step) { return step < 14 ? step : 1'000'000; }));
  const SeriesOptions wanted{.window = 3, .horizon = 2};
  const auto a = calm.open(Split::train, wanted), b = wild.open(Split::train, wanted);
  for (int64_t i = 0; i < a->size(); ++i) {
    EXPECT_EQ(read_window(*a, i).values, read_window(*b, i).values);
    EXPECT_EQ(read_window(*a, i).targets, read_window(*b, i).targets);
  }
  EXPECT_GT(read_window(*wild.open(Split::test, wanted), 2).targets[1], 100'000);
}

TEST(SeriesSource, KeepsTheUnitsOfAConstantColumn) {
  const SeriesFile file(hourly_csv(20, [](int step) { return step < 19 ? 7 : 10; }));
  const auto test = file.open(Split::test, {.window = 3, .horizon = 2});
  EXPECT_EQ(read_window(*test, 2).targets, (std::vector<float>{0, 3}));
  EXPECT_EQ(errors_of(*test).at("target_deviation"), 1);
}

TEST(SeriesSource, PutsAllTargetsOfOneStepTogether) {
  const SeriesFile file(
      "date,a,b\n2024-01-01,0,10\n2024-01-02,0,10\n2024-01-03,0,10\n2024-01-04,0,10\n2024-01-05,1,12\n"
      "2024-01-06,3,14\n");
  const auto test = file.open(Split::test, {.window = 1, .horizon = 2, .columns = {"a"}, .targets = {"b", "a"}});
  ASSERT_EQ(test->size(), 1);
  EXPECT_EQ(test->fields()[0].shape, (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(read_window(*test, 0).values, std::vector<float>{0});
  EXPECT_EQ(read_window(*test, 0).targets, (std::vector<float>{2, 1, 4, 3}));
  EXPECT_EQ(errors_of(*test).count("persistence_mae_original"), 0U);  // of which of the two units?
}

TEST(SeriesSource, CountsTargetsFromTheLastValueOrTheSeason) {
  const SeriesFile file(hourly_csv(700, [](int step) { return step % 24 * 10 + step; }));
  const SeriesOptions options{.window = 30, .horizon = 26, .columns = {"x"}};
  const auto with_base = [&](const char* base) {
    SeriesOptions changed = options;
    changed.target_base = base;
    return file.open(Split::test, changed);
  };
  const auto plain = file.open(Split::test, options), last = with_base("last"), season = with_base("season");
  const SeriesSample wanted = read_window(*plain, 3), from_last = read_window(*last, 3), from_season = read_window(*season, 3);
  for (size_t step = 0; step < 26; ++step) {
    EXPECT_NEAR(from_last.targets[step], wanted.targets[step] - wanted.values.at(29 * 1), 1e-5) << step;
  }
  // x grows by 24 in a season, whatever the hour: one spread of the changes. From the 25th step on it is two seasons.
  for (size_t step = 0; step < 26; ++step) EXPECT_NEAR(from_season.targets[step], step < 24 ? 1 : 2, 1e-3) << step;
  for (const float value : from_season.values) EXPECT_NEAR(value, 1, 1e-3);
  const auto errors = errors_of(*season);
  EXPECT_NEAR(errors.at("seasonal_naive_mae_original"), 24 * (24 + 2 * 2) / 26.0, 1e-3);
  EXPECT_NEAR(errors.at("target_deviation"), 24, 1e-3);
  EXPECT_NE(season->facts().preparation.find("change over a season"), std::string::npos);
  expect_says(caught([&] { with_base("yesterday"); }), Fault::usage, {"--target-base", "none, last or season"});
  const SeriesFile brief(hourly_csv(30, [](int step) { return step; }));
  SeriesOptions narrow{.window = 12, .horizon = 2};
  narrow.target_base = "season";
  expect_says(caught([&] { brief.open(Split::train, narrow); }), Fault::usage, {"a season has 24 steps", "last"});
}

TEST(SeriesSource, IsFoundByNameAndByTheFile) {
  const SeriesFile file(hourly_csv(20, [](int step) { return step; }));
  const DataOptions options{.kind = DataKind::series, .series = {.window = 3, .horizon = 2}};
  for (const std::string& spec : {file.path.string(), "csv:" + file.path.string()})
    EXPECT_EQ(open_data_source(spec, options)->name(), "csv");
  EXPECT_EQ(open_data_source("synthetic", options)->facts().window, 3);
}

TEST(SeriesSource, RefusesWhatIsTooShort) {
  const SeriesFile file(hourly_csv(20, [](int step) { return step; }));
  expect_says(caught([&] { file.open(Split::train, {}); }), Fault::usage,
              {"training part has 14 of the 20", "window of 96", "horizon of 24", "a.csv"});
  expect_says(caught([&] { file.open(Split::test, {.window = 3, .horizon = 5}); }), Fault::usage,
              {"test part has 4 of the 20"});
  expect_says(caught([&] { file.open(Split::train, {.window = -1}); }), Fault::usage, {"window is -1"});
  expect_says(caught([&] { file.open(Split::train, {.horizon = 1 << 30}); }), Fault::usage, {"horizon is 1073741824"});
  const SeriesFile one("date,x\n2024-01-01,1\n");
  expect_says(caught([&] { one.open(Split::train, {.window = 1, .horizon = 1}); }), Fault::usage, {"0 of the 1"});
}

TEST(SeriesSource, RefusesValuesThatNoFloatHolds) {
  const SeriesFile file(hourly_csv(20, [](int step) { return step == 17 ? 1e60 : step; }));
  expect_says(caught([&] { file.open(Split::test, {.window = 3, .horizon = 2}); }), Fault::input,
              {"1e+60", "2024-01-01 17:00", "cannot be scaled", "column x"});
}

TEST(NaiveForecast, IsWhatOneWorksOutByHand) {
  // Two windows of a series with season 2: origins 3 and 4.
  const SeriesWindows series{.values = {1, 5, 2, 7, 1, 6},
                             .columns = 1,
                             .features = 1,
                             .targets = {0},
                             .deviations = {10},
                             .window = 1,
                             .horizon = 2,
                             .first = 2,
                             .count = 2,
                             .season = 2};
  const auto pairs = naive_forecasts(series);
  const std::map<std::string, double> errors(pairs.begin(), pairs.end());
  // Persistence: 7-2, 1-2 and 1-7, 6-7. Seasonal: 7-5, 1-2 and 1-2, 6-7.
  EXPECT_DOUBLE_EQ(errors.at("persistence_mae"), (5 + 1 + 6 + 1) / 4.0);
  EXPECT_DOUBLE_EQ(errors.at("persistence_mse"), (25 + 1 + 36 + 1) / 4.0);
  EXPECT_DOUBLE_EQ(errors.at("persistence_mae_original"), 32.5);
  EXPECT_DOUBLE_EQ(errors.at("seasonal_naive_mae"), (2 + 1 + 1 + 1) / 4.0);
  EXPECT_DOUBLE_EQ(errors.at("seasonal_naive_mse"), (4 + 1 + 1 + 1) / 4.0);
  EXPECT_DOUBLE_EQ(errors.at("seasonal_naive_mae_original"), 12.5);
  EXPECT_DOUBLE_EQ(errors.at("target_deviation"), 10);
}

TEST(NaiveForecast, NeverLooksAtWhatItHasToForecast) {
  // Horizon 3, season 2: the third step is forecast by the value two seasons before.
  const SeriesWindows series{.values = {1, 2, 11, 12, 21},
                             .columns = 1,
                             .features = 1,
                             .targets = {0},
                             .deviations = {1},
                             .window = 2,
                             .horizon = 3,
                             .count = 1,
                             .season = 2};
  const auto pairs = naive_forecasts(series);
  const std::map<std::string, double> errors(pairs.begin(), pairs.end());
  EXPECT_DOUBLE_EQ(errors.at("seasonal_naive_mae"), (10 + 10 + 20) / 3.0);
}

TEST(NaiveForecast, LeavesOutASeasonThatIsNotThere) {
  const SeriesFile file(hourly_csv(30, [](int step) { return step; }));
  const auto test = file.open(Split::test, {.window = 2, .horizon = 1});
  EXPECT_EQ(errors_of(*test).count("seasonal_naive_mae"), 1U);  // 24 steps of history: exactly one season
  const auto train = file.open(Split::train, {.window = 2, .horizon = 1});
  EXPECT_EQ(errors_of(*train).count("seasonal_naive_mae"), 0U);
  EXPECT_NEAR(errors_of(*train).at("persistence_mae_original"), 1, 1e-6);
}

SeriesWindows windows_of(const SampleSource& source) { return dynamic_cast<const SeriesSource&>(source).series(); }

TEST(SyntheticSeries, IsTheSameForASeedAndScaledByConstruction) {
  const DataOptions options{.seed = 7, .kind = DataKind::series, .series = {.features = 3}};
  const auto once = open_synthetic_series(options), again = open_synthetic_series(options);
  EXPECT_EQ(windows_of(*once).values, windows_of(*again).values);
  DataOptions other = options;
  other.seed = 8;
  EXPECT_NE(windows_of(*open_synthetic_series(other)).values, windows_of(*once).values);
  EXPECT_EQ(once->fields()[0].shape, (std::vector<int64_t>{96, 3}));
  EXPECT_EQ(once->fields()[1].shape, std::vector<int64_t>{24});
  double sum = 0, squares = 0;
  const std::vector<float>& values = windows_of(*once).values;
  for (const float value : values) {
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / static_cast<double>(values.size()), 0, 0.05);
  EXPECT_NEAR(squares / static_cast<double>(values.size()), 1, 0.05);
}

TEST(SyntheticSeries, CanBeForecastBetterThanByPersistence) {
  const auto test = open_synthetic_series({.split = Split::test, .seed = 1, .kind = DataKind::series});
  const auto errors = errors_of(*test);
  EXPECT_LT(errors.at("seasonal_naive_mae"), 0.9 * errors.at("persistence_mae"));
  EXPECT_GT(errors.at("seasonal_naive_mae"), 0.1);
}

TEST(SyntheticSeries, HasAsManySamplesAsAskedFor) {
  const auto source = open_synthetic_series(
      {.synthetic_samples = 70'000, .kind = DataKind::series, .series = {.window = 4, .horizon = 2, .features = 1}});
  EXPECT_EQ(source->size(), 70'000);
  EXPECT_EQ(read_window(*source, 65'536 + 5).values, read_window(*source, 5).values);
  EXPECT_NE(read_window(*source, 6).values, read_window(*source, 5).values);
  EXPECT_EQ(open_synthetic_series({.synthetic_samples = 1, .kind = DataKind::series})->size(), 1);
}

TEST(SyntheticSeries, RefusesWhatCannotBe) {
  const auto refused = [](const DataOptions& options) { return caught([&] { open_synthetic_series(options); }); };
  expect_says(refused({.series = {.features = -1}}), Fault::usage, {"-1 features"});
  expect_says(refused({.series = {.window = 1 << 20, .features = 4096}}), Fault::usage, {"4096 features"});
  expect_says(refused({.synthetic_samples = -5}), Fault::usage, {"-5 made-up samples"});
  expect_says(refused({.series = {.columns = {"temp"}}}), Fault::usage, {"no named columns"});
}

}  // namespace
}  // namespace gpusizer
