// SPDX-License-Identifier: Apache-2.0
// Numbers of GPUs: series with at least three counts, some of them left out.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "reports/sizing/backtest/backtest.hpp"
#include "reports/sizing/scaling/population.hpp"

namespace gpusizer::backtest {
namespace {

struct NamedSeries {
  std::string source, key, gpu;
  scaling::Series points;
};

std::vector<NamedSeries> series_of(const std::vector<import::PublishedRow>& rows) {
  struct Sum {
    double logs = 0;
    int count = 0;
  };
  std::map<std::string, std::map<std::pair<int, int>, Sum>> sums;
  std::map<std::string, const import::PublishedRow*> first;
  for (const import::PublishedRow& row : rows) {
    const std::string key = import::series_key(row);
    Sum& sum = sums[key][{row.gpus, row.nodes}];
    sum.logs += std::log(row.throughput), sum.count += 1;
    first.try_emplace(key, &row);
  }
  std::vector<NamedSeries> result;
  for (const auto& [key, points] : sums) {
    std::set<int> counts;
    NamedSeries series{first[key]->repository, key, first[key]->gpu, {}};
    for (const auto& [layout, sum] : points) {
      counts.insert(layout.first);
      series.points.push_back({{double(layout.first), double(layout.second)}, layout.first / std::exp(sum.logs / sum.count)});
    }
    if (counts.size() >= 3) result.push_back(std::move(series));
  }
  return result;
}

std::set<double> counts_up_to(const scaling::Series& points, double most) {
  std::set<double> counts;
  for (const scaling::Point& point : points)
    if (point.layout.gpus <= most) counts.insert(point.layout.gpus);
  return counts;
}

bool across(const scaling::Point& point) { return point.layout.nodes > 1; }

struct Fold {
  scaling::Series known, asked;
};

// Known up to 8 GPUs, asked for more; with `one_more`, the smallest count on several nodes is known too.
std::vector<Fold> fold_at_eight(const scaling::Series& points, bool one_more) {
  Fold fold;
  for (const scaling::Point& point : points) (point.layout.gpus <= 8 ? fold.known : fold.asked).push_back(point);
  if (counts_up_to(fold.known, 8).size() < 2) return {};
  if (one_more && std::none_of(fold.known.begin(), fold.known.end(), across)) {
    const auto first = std::find_if(fold.asked.begin(), fold.asked.end(), across);  // points ascend in GPUs
    if (first != fold.asked.end()) {
      const double count = first->layout.gpus;
      for (const scaling::Point& point : fold.asked)
        if (point.layout.gpus == count && across(point)) fold.known.push_back(point);
      std::erase_if(fold.asked, [&](const scaling::Point& point) { return point.layout.gpus <= count; });
    }
  }
  if (fold.asked.empty()) return {};
  return {fold};
}

// Every count but the smallest, of series that fold_at_eight() does not use.
std::vector<Fold> folds_without_one(const scaling::Series& points) {
  const auto counts = counts_up_to(points, 1e9);
  if (counts_up_to(points, 8).size() >= 2 && *counts.rbegin() > 8) return {};
  std::vector<Fold> folds;
  for (auto count = std::next(counts.begin()); count != counts.end(); ++count) {
    Fold fold;
    for (const scaling::Point& point : points) (point.layout.gpus == *count ? fold.asked : fold.known).push_back(point);
    if (counts_up_to(fold.known, 1e9).size() >= 2) folds.push_back(std::move(fold));
  }
  return folds;
}

scaling::Reach reach_of(const Fold& fold, const scaling::Point& asked) {
  double most = 0, nodes = 0;
  for (const scaling::Point& point : fold.known)
    most = std::max(most, point.layout.gpus), nodes = std::max(nodes, point.layout.nodes);
  if (across(asked) && nodes <= 1) return scaling::Reach::new_tier;
  return asked.layout.gpus > most ? scaling::Reach::same_tier : scaling::Reach::inside;
}

void try_fold(const Fold& fold, const NamedSeries& series, const scaling::Prior& prior, std::vector<Trial>& trials) {
  const scaling::Fit fit = scaling::fit_tiered(fold.known, prior);
  for (const scaling::Point& point : fold.asked) {
    Trial trial{.source = series.source, .series = series.key, .label = series.gpu};
    trial.predicted = point.layout.gpus / fit.seconds(point.layout);
    trial.actual = point.layout.gpus / point.seconds;
    trial.scale = std::sqrt(fit.relative_sd(point.layout));
    trial.reach = reach_of(fold, point);
    trials.push_back(std::move(trial));
  }
}

std::map<std::string, scaling::Prior> priors_from_others(const std::vector<NamedSeries>& all) {
  std::map<std::string, scaling::Prior> priors;
  for (const NamedSeries& one : all) {
    if (priors.contains(one.source)) continue;
    std::vector<scaling::Series> others;
    for (const NamedSeries& other : all)
      if (other.source != one.source) others.push_back(other.points);
    priors[one.source] = scaling::learn_prior(others);
  }
  return priors;
}

}  // namespace

std::vector<Situation> backtest_counts(const std::vector<import::PublishedRow>& rows) {
  const std::vector<NamedSeries> all = series_of(rows);
  const auto priors = priors_from_others(all);
  Situation more{"more", "fit up to 8 GPUs, predict more", {}}, node{"node", "the same with one 2-node point", {}},
      one{"one_out", "one count left out", {}};
  for (const NamedSeries& series : all) {
    const scaling::Prior& prior = priors.at(series.source);
    for (const Fold& fold : fold_at_eight(series.points, false)) try_fold(fold, series, prior, more.trials);
    for (const Fold& fold : fold_at_eight(series.points, true)) try_fold(fold, series, prior, node.trials);
    for (const Fold& fold : folds_without_one(series.points)) try_fold(fold, series, prior, one.trials);
  }
  std::vector<Situation> result;
  for (Situation* situation : {&more, &node, &one}) result.push_back(std::move(*situation));
  return result;
}

}  // namespace gpusizer::backtest
