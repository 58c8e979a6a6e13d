// SPDX-License-Identifier: Apache-2.0
// The situations together, their intervals and their figures.
#include "reports/sizing/backtest/backtest.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "reports/sizing/scaling/quantile.hpp"

namespace gpusizer::backtest {
namespace {

constexpr std::size_t fewest_trials = 20;
constexpr double level = 0.9;

using Pool = std::vector<const Trial*>;

// The factor for trials of `source` that had `reach` to bridge.
double factor_from_others(const Pool& pool, const std::string& source, scaling::Reach reach) {
  std::map<std::string, double> count;
  for (const Trial* trial : pool)
    if (trial->reach == reach && trial->source != source) count[trial->source] += 1;
  std::vector<std::pair<double, double>> scores;
  for (const Trial* trial : pool)
    if (trial->reach == reach && trial->source != source)
      scores.emplace_back(trial->log_error() / trial->scale, 1 / std::sqrt(count[trial->source]));
  if (scores.size() < fewest_trials) return scaling::shipped_factor(reach);
  return scaling::weighted_quantile(std::move(scores), level);
}

}  // namespace

double Trial::error() const { return std::abs(predicted / actual - 1); }
double Trial::log_error() const { return std::abs(std::log(predicted / actual)); }

void calibrate(std::vector<Situation*> situations) {
  Pool pool;
  for (const Situation* situation : situations)
    for (const Trial& trial : situation->trials) pool.push_back(&trial);
  std::map<std::pair<std::string, scaling::Reach>, double> factors;
  for (Situation* situation : situations)
    for (Trial& trial : situation->trials) {
      const auto key = std::pair(trial.source, trial.reach);
      if (!factors.contains(key)) factors[key] = factor_from_others(pool, trial.source, trial.reach);
      trial.half_width = factors[key] * trial.scale;
    }
}

std::optional<Score> score(const Situation& situation) {
  if (situation.trials.empty()) return std::nullopt;
  const double n = double(situation.trials.size());
  Score result{.trials = situation.trials.size()};
  std::vector<double> errors, widths;
  std::set<std::string> series;
  for (const Trial& trial : situation.trials) {
    errors.push_back(trial.error());
    widths.push_back(trial.half_width);
    series.insert(trial.source + '\x1f' + trial.series);
    result.mape += trial.error() / n;
    result.bias += (trial.predicted / trial.actual - 1) / n;
    result.coverage += (trial.log_error() <= trial.half_width) / n;
  }
  result.series = series.size();
  result.median = scaling::median(errors);
  result.p90 = scaling::quantile(errors, 0.9);
  result.median_half_width = scaling::median(widths);
  result.coverage_tolerance = std::max(0.03, 2 * std::sqrt(0.09 / double(result.series)));
  return result;
}

std::vector<Situation> backtest(const import::PublishedTable& table, const cloud::Catalog& catalog) {
  std::vector<Situation> all = backtest_counts(table.rows);
  for (Situation& one : backtest_batches(table.rows)) all.push_back(std::move(one));
  all.push_back(backtest_precisions(table.rows));
  for (Situation& one : backtest_gpus(table.rows, catalog)) all.push_back(std::move(one));
  std::vector<Situation*> pointers;
  for (Situation& one : all) pointers.push_back(&one);
  calibrate(pointers);
  return all;
}

}  // namespace gpusizer::backtest
