// SPDX-License-Identifier: Apache-2.0
// How good are predictions? Published measurements are left out one by one and predicted from the others.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cloud/catalog/catalog.hpp"
#include "reports/import/published_rows.hpp"
#include "reports/sizing/scaling/interval_table.hpp"

namespace gpusizer::backtest {

// One measurement that was left out, and its prediction.
struct Trial {
  std::string source;  // who measured; priors and widths never come from the same one
  std::string series;  // the workload on its system
  std::string label;   // the GPU, for tables by GPU
  double predicted = 0, actual = 0;  // throughput; only the ratio counts
  double scale = 1;                  // of the interval, see interval_table.hpp
  scaling::Reach reach = scaling::Reach::inside;
  double half_width = 0;  // of the log rate; set by calibrate()

  double error() const;      // |predicted / actual - 1|
  double log_error() const;  // |log|
};

struct Situation {
  std::string id, title;
  std::vector<Trial> trials;
};

// Figures of a situation; nothing where it has no trials.
struct Score {
  std::size_t trials = 0, series = 0;
  double mape = 0, median = 0, p90 = 0, bias = 0;  // shares
  double coverage = 0, median_half_width = 0;      // of the 90 % intervals
  double coverage_tolerance = 0;                   // max(0.03, 2 sqrt(0.09 / series))
};

std::optional<Score> score(const Situation& situation);

// The situations in the order of the report: counts (fit up to 8 and predict more; with one point on two nodes; one count
// left out), batches (inside, beyond), precision composed, other GPU (with at least three anchors, without any). Priors
// are learned on other sources; so are the widths of the intervals, those over GPUs on other GPUs.
std::vector<Situation> backtest(const import::PublishedTable& table, const cloud::Catalog& catalog);

// The parts of backtest(), each with its own file.
std::vector<Situation> backtest_counts(const std::vector<import::PublishedRow>& rows);
std::vector<Situation> backtest_batches(const std::vector<import::PublishedRow>& rows);
Situation backtest_precisions(const std::vector<import::PublishedRow>& rows);
std::vector<Situation> backtest_gpus(const std::vector<import::PublishedRow>& rows, const cloud::Catalog& catalog);

// Sets the half widths of all trials from those of other sources that had the same to bridge: the quantile of
// log_error / scale in which a source weighs as the square root of its trials. Where there are fewer than 20 such trials,
// shipped_factor().
void calibrate(std::vector<Situation*> situations);

}  // namespace gpusizer::backtest
