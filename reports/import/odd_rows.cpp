// SPDX-License-Identifier: Apache-2.0
// Rows of one workload side by side.
#include "reports/import/odd_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace gpusizer::import {
namespace {

using Rows = std::vector<const PublishedRow*>;

double per_gpu(const PublishedRow& row) { return row.throughput / row.gpus; }

double median_per_gpu(const Rows& rows) {
  std::vector<double> rates;
  for (const PublishedRow* row : rows) rates.push_back(per_gpu(*row));
  std::sort(rates.begin(), rates.end());
  return rates[rates.size() / 2];
}

void find_far_rows(Rows& rows, std::map<std::size_t, Finding>& found) {
  if (rows.size() < 3) return;
  const double middle = median_per_gpu(rows);
  std::erase_if(rows, [&](const PublishedRow* row) {
    const double ratio = per_gpu(*row) / middle;
    if (ratio < farthest_neighbour && ratio > 1 / farthest_neighbour) return false;
    found[row->line] = {row->line, "far_from_neighbours",
                        fmt::format("its rate per GPU is {:.3g} times that of the same workload's other rows", ratio)};
    return true;
  });
}

void find_fast_rows(const Rows& rows, std::map<std::size_t, Finding>& found) {
  const auto smallest = std::min_element(rows.begin(), rows.end(), [](auto* a, auto* b) { return a->gpus < b->gpus; });
  Rows first, fast, others;
  for (const PublishedRow* row : rows) {
    if (row->gpus == (*smallest)->gpus) first.push_back(row);
    else others.push_back(row);
  }
  const double base = median_per_gpu(first);
  for (const PublishedRow* row : others)
    if (per_gpu(*row) > most_speedup_per_gpu * base) fast.push_back(row);
  if (fast.empty()) return;
  const bool base_is_wrong = others.size() >= 2 && fast.size() * 2 > others.size();
  for (const PublishedRow* row : base_is_wrong ? first : fast)
    found[row->line] = {row->line, "faster_than_its_gpus",
                        base_is_wrong ? fmt::format("{} GPUs are slower than any other count lets expect", row->gpus)
                                      : fmt::format("{} GPUs are {:.3g} times as fast as {}: more than the count allows", row->gpus,
                                                    row->throughput / (base * (*smallest)->gpus), (*smallest)->gpus)};
}

}  // namespace

void hold_out_odd_rows(PublishedTable& table) {
  std::map<std::string, Rows> series;
  for (const PublishedRow& row : table.rows) series[series_key(row)].push_back(&row);
  std::map<std::size_t, Finding> found;
  for (auto& [key, rows] : series) {
    find_far_rows(rows, found);
    if (rows.size() >= 2) find_fast_rows(rows, found);
  }
  std::erase_if(table.rows, [&](const PublishedRow& row) { return found.contains(row.line); });
  for (auto& [line, finding] : found) table.held_out.push_back(std::move(finding));
  std::stable_sort(table.held_out.begin(), table.held_out.end(),
                   [](const Finding& left, const Finding& right) { return left.line < right.line; });
}

}  // namespace gpusizer::import
