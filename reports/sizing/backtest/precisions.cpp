// SPDX-License-Identifier: Apache-2.0
// Precision: half precision on many GPUs from half precision on one and the scaling of single precision.
#include <cmath>
#include <map>
#include <tuple>

#include "reports/import/notes_text.hpp"
#include "reports/sizing/backtest/backtest.hpp"
#include "reports/sizing/scaling/precision_law.hpp"

namespace gpusizer::backtest {
namespace {

using Place = std::tuple<std::string, int, int>;  // precision, GPUs, nodes

struct Rates {
  const import::PublishedRow* first = nullptr;
  std::map<Place, std::pair<double, int>> logs;

  bool has(const Place& place) const { return logs.contains(place); }
  double at(const Place& place) const { return std::exp(logs.at(place).first / logs.at(place).second); }
};

std::string key_of_any_precision(const import::PublishedRow& row) {
  import::PublishedRow same = row;
  same.precision.clear();
  if (row.repository.find("lambdal") != std::string::npos) {
    same.batch.clear();
    same.file = import::base_name(row.file);
  }
  same.file = import::file_without_precision(same.file);
  same.configuration = import::without_precision(row.configuration);
  return import::series_key(same) + same.file;
}

}  // namespace

Situation backtest_precisions(const std::vector<import::PublishedRow>& rows) {
  std::map<std::string, Rates> all;
  for (const import::PublishedRow& row : rows) {
    Rates& rates = all[key_of_any_precision(row)];
    if (!rates.first) rates.first = &row;
    auto& [logs, count] = rates.logs[{row.precision, row.gpus, row.nodes}];
    logs += std::log(row.throughput), count += 1;
  }
  Situation situation{"precision", "precision composed", {}};
  const Place single{"fp32", 1, 1};
  for (const auto& [key, rates] : all)
    for (const auto& [place, logs] : rates.logs) {
      const auto& [precision, gpus, nodes] = place;
      const Place one{precision, 1, 1}, reference{"fp32", gpus, nodes};
      if ((precision != "fp16" && precision != "mixed") || gpus == 1) continue;
      if (!rates.has(one) || !rates.has(single) || !rates.has(reference)) continue;
      Trial trial{.source = rates.first->repository, .series = key, .label = rates.first->gpu};
      trial.predicted = scaling::composed_throughput(rates.at(one), rates.at(single), rates.at(reference));
      trial.actual = rates.at(place);
      trial.reach = scaling::Reach::precision;
      situation.trials.push_back(std::move(trial));
    }
  return situation;
}

}  // namespace gpusizer::backtest
