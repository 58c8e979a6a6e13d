// SPDX-License-Identifier: Apache-2.0
// Batches: workloads measured at three or more, each of them left out.
#include <cmath>
#include <cstdlib>
#include <map>

#include "reports/import/notes_text.hpp"
#include "reports/sizing/backtest/backtest.hpp"
#include "reports/sizing/scaling/batch_law.hpp"

namespace gpusizer::backtest {
namespace {

struct BatchSeries {
  const import::PublishedRow* first = nullptr;
  std::map<double, std::pair<double, int>> rates;  // batch -> sum of logs, how many
};

// Tables in which each GPU has the largest batch that fits say nothing about other batches.
bool tunes_batches(const import::PublishedRow& row) { return row.repository.find("lambdal") != std::string::npos; }

std::string key_without_batch(const import::PublishedRow& row) {
  import::PublishedRow same = row;
  same.batch.clear();
  same.configuration = import::without_batch(row.configuration);
  return import::series_key(same) + std::to_string(row.gpus) + '/' + std::to_string(row.nodes);
}

}  // namespace

std::vector<Situation> backtest_batches(const std::vector<import::PublishedRow>& rows) {
  std::map<std::string, BatchSeries> all;
  for (const import::PublishedRow& row : rows) {
    if (row.batch.empty() || tunes_batches(row)) continue;
    BatchSeries& series = all[key_without_batch(row)];
    if (!series.first) series.first = &row;
    auto& [logs, count] = series.rates[std::strtod(row.batch.c_str(), nullptr)];
    logs += std::log(row.throughput), count += 1;
  }
  Situation inside{"batch_inside", "batch between measured ones", {}}, beyond{"batch_beyond", "batch beyond the largest", {}};
  for (const auto& [key, series] : all) {
    if (series.rates.size() < 3) continue;
    std::vector<scaling::BatchPoint> points;
    for (const auto& [batch, sum] : series.rates) points.push_back({batch, batch / std::exp(sum.first / sum.second)});
    for (std::size_t i = 1; i < points.size(); ++i) {
      std::vector<scaling::BatchPoint> others = points;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
      const bool last = i + 1 == points.size();
      Trial trial{.source = series.first->repository, .series = key, .label = series.first->gpu};
      trial.predicted = points[i].batch / scaling::seconds_at_batch(others, points[i].batch);
      trial.actual = points[i].batch / points[i].seconds;
      trial.scale = scaling::batch_scale(others, points[i].batch);
      trial.reach = last ? scaling::Reach::batch_beyond : scaling::Reach::batch_inside;
      (last ? beyond : inside).trials.push_back(std::move(trial));
    }
  }
  return {std::move(inside), std::move(beyond)};
}

}  // namespace gpusizer::backtest
