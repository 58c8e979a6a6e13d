// SPDX-License-Identifier: Apache-2.0
// Makes the synthetic series.
#include "workloads/data/synthetic_series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "gpusizer/error.hpp"
#include "workloads/data/sample_random.hpp"
#include "workloads/data/series_source.hpp"

namespace gpusizer {

namespace {

constexpr int64_t default_features = 8, most_features = 4096, day_steps = 24, week_steps = 168;
constexpr int64_t four_years_steps = 4 * 8766;
constexpr int64_t most_different_windows = 65536;
constexpr int64_t most_series_values = int64_t{1} << 27;  // 512 MiB
constexpr double daily = 0.8, weekly = 0.5, common_noise = 0.5, own_noise = 0.4, memory = 0.9;

// Noise with variance 1 in which each value remembers the one before.
class RememberingNoise {
 public:
  explicit RememberingNoise(uint64_t key) : random_(key), value_(fresh()) {}
  double next() { return value_ = memory * value_ + std::sqrt(1 - memory * memory) * fresh(); }

 private:
  double fresh() { return random_.uniform(-std::numbers::sqrt3, std::numbers::sqrt3); }  // variance 1

  SampleRandom random_;
  double value_;
};

double wave(int64_t step, int64_t period, double phase) {
  return std::sin(2 * std::numbers::pi * (static_cast<double>(step % period) / static_cast<double>(period)) + phase);
}

// steps x features. The waves depend on the seed alone, the noise on the split too.
std::vector<float> make_series(int64_t first_step, int64_t steps, int64_t features, uint64_t seed, uint64_t split) {
  const double scale =
      1 / std::sqrt(daily * daily / 2 + weekly * weekly / 2 + common_noise * common_noise + own_noise * own_noise);
  std::vector<float> values(static_cast<size_t>(steps * features));
  std::vector<double> common(static_cast<size_t>(steps));
  RememberingNoise shared(mix_key(seed, split));
  for (double& value : common) value = shared.next();
  for (int64_t feature = 0; feature < features; ++feature) {
    SampleRandom phases(mix_key(seed, 0, static_cast<uint64_t>(feature)));
    const double day_phase = phases.uniform(-0.8, 0.8), week_phase = phases.uniform(-0.8, 0.8);
    RememberingNoise own(mix_key(seed, split, static_cast<uint64_t>(feature) + 1));
    for (int64_t step = 0; step < steps; ++step) {
      const double waves = daily * wave(first_step + step, day_steps, day_phase) +
                           weekly * wave(first_step + step, week_steps, week_phase);
      const double noise = common_noise * common[static_cast<size_t>(step)] + own_noise * own.next();
      values[static_cast<size_t>(step * features + feature)] = static_cast<float>(scale * (waves + noise));
    }
  }
  return values;
}

int64_t default_size(Split split, const SeriesOptions& wanted) {
  const SeriesSplit at = split_by_time(four_years_steps);
  const int64_t windows = split == Split::train ? at.train_end - wanted.window - wanted.horizon + 1
                                                : at.steps - at.test_begin - wanted.horizon + 1;
  return std::max<int64_t>(1, windows);
}

void check_synthetic_series(const SeriesOptions& wanted, int64_t features, int64_t size, int64_t steps) {
  if (!wanted.columns.empty() || !wanted.targets.empty() || !wanted.rows.empty() || !wanted.date_column.empty())
    throw Error(Fault::usage, "a made-up series has no named columns to choose from", "synthetic");
  const bool sane = features >= 1 && features <= most_features && size >= 1 && steps <= most_series_values / features;
  if (!sane) {
    throw Error(Fault::usage,
                fmt::format("{} made-up samples of {} features, window {} and horizon {} cannot be made", size,
                            features, wanted.window, wanted.horizon),
                "synthetic", fmt::format("ask for 1 to {} features and shorter windows", most_features));
  }
}

}  // namespace

std::unique_ptr<SampleSource> open_synthetic_series(const DataOptions& options) {
  const SeriesOptions wanted = checked_series_options(options.series, "synthetic");
  const int64_t features = wanted.features == 0 ? default_features : wanted.features;
  const int64_t size = options.synthetic_samples == 0 ? default_size(options.split, wanted) : options.synthetic_samples;
  const int64_t windows = std::min(size, most_different_windows);
  // Before the first window there is a day, so that the seasonal forecast has its season with every window.
  const int64_t steps = day_steps + windows + wanted.window + wanted.horizon - 1;
  check_synthetic_series(wanted, features, size, steps);
  const bool train = options.split == Split::train;
  SeriesWindows series{
      .values = make_series(train ? 0 : four_years_steps, steps, features, options.seed, train ? 1 : 2),
      .columns = features,
      .features = features,
      .targets = {0},
      .deviations = {1},
      .window = wanted.window,
      .horizon = wanted.horizon,
      .first = day_steps,
      .count = windows,
      .season = day_steps};
  set_target_base(series, wanted.target_base, steps, "synthetic");
  SourceFacts facts{.name = "synthetic", .size = size};
  facts.preparation = "made up: hourly, daily and weekly waves in noise with a memory, mean 0 and deviation 1";
  facts.features = features;
  facts.window = wanted.window;
  facts.horizon = wanted.horizon;
  return std::make_unique<SeriesSource>(std::move(facts), std::move(series));
}

}  // namespace gpusizer
