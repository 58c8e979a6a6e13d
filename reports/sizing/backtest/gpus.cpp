// SPDX-License-Identifier: Apache-2.0
// Other GPUs: each workload on each GPU is predicted from the rest of its source's table.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "reports/import/gpu_names.hpp"
#include "reports/sizing/backtest/backtest.hpp"
#include "reports/sizing/scaling/gpu_regression.hpp"
#include "reports/sizing/scaling/quantile.hpp"

namespace gpusizer::backtest {
namespace {

constexpr std::size_t fewest_anchors = 3, most_cells = 1500;

std::string gpu_label(const import::PublishedRow& row) {
  return row.gpu_memory.empty() ? row.gpu : fmt::format("{}-{}GB", row.gpu, row.gpu_memory);
}

// Where the batch is what fits on each GPU it is no part of the workload.
std::string workload_of(const import::PublishedRow& row) {
  const std::string batch = row.repository.find("lambdal") == std::string::npos ? row.batch : "";
  return fmt::format("{}|{}|{}|{}|{}|{}|{}", row.repository, row.model, row.framework, row.dataset, row.precision, row.unit, batch);
}

// One cell for each workload and GPU, of workloads on at least two GPUs; several rows give their median. All sources
// together: what a model asks of a GPU is the same in each of them.
std::vector<scaling::GpuCell> cells_of(const std::vector<import::PublishedRow>& rows, const cloud::Catalog& catalog) {
  std::map<std::string, std::map<std::string, std::vector<const import::PublishedRow*>>> workloads;
  for (const import::PublishedRow& row : rows)
    if (row.gpus == 1) workloads[workload_of(row)][gpu_label(row)].push_back(&row);
  std::vector<scaling::GpuCell> cells;
  for (const auto& [workload, gpus] : workloads) {
    if (gpus.size() < 2 || cells.size() + gpus.size() > most_cells) continue;
    for (const auto& [gpu, same] : gpus) {
      std::vector<double> logs;
      for (const auto* row : same) logs.push_back(std::log(row->throughput));
      const auto& row = *same.front();
      cells.push_back({workload, row.model, row.precision, gpu,
                       scaling::traits_of(import::gpu_named(catalog, row.gpu, row.gpu_memory), row.precision),
                       scaling::median(logs)});
    }
  }
  return cells;
}

// Where a workload was measured stands in front of its name.
std::string_view source_of(const scaling::GpuCell& cell) {
  return std::string_view(cell.workload).substr(0, cell.workload.find('|'));
}

// Other models in the same precision of the same source on the same GPU that were measured on another GPU of the workload as well.
std::size_t anchors_of(const std::vector<scaling::GpuCell>& cells, const scaling::GpuCell& asked) {
  std::set<std::string> sources, on_target, anchors;
  for (const auto& cell : cells) {
    if (cell.workload == asked.workload && cell.gpu != asked.gpu) sources.insert(cell.gpu);
    if (cell.gpu == asked.gpu && cell.model != asked.model && cell.precision == asked.precision &&
        source_of(cell) == source_of(asked))
      on_target.insert(cell.workload);
  }
  for (const auto& cell : cells)
    if (on_target.contains(cell.workload) && sources.contains(cell.gpu)) anchors.insert(cell.workload);
  return anchors.size();
}

// Indices of the cells on the target GPU that the prediction may not know; the one asked for comes first.
std::vector<std::size_t> hidden_cells(const std::vector<scaling::GpuCell>& cells, std::size_t asked, bool with_anchors) {
  std::vector<std::size_t> hidden{asked};
  for (std::size_t i = 0; i < cells.size(); ++i)
    if (i != asked && cells[i].gpu == cells[asked].gpu && (!with_anchors || cells[i].model == cells[asked].model))
      hidden.push_back(i);
  return hidden;
}

Trial trial_of(const scaling::GpuRegression& regression, std::size_t asked, bool with_anchors) {
  const auto& cells = regression.cells();
  const auto estimate = regression.without(hidden_cells(cells, asked, with_anchors));
  Trial trial{.source = cells[asked].gpu, .series = cells[asked].workload, .label = cells[asked].gpu};
  trial.predicted = std::exp(estimate.log_rate - cells[asked].log_rate);
  trial.actual = 1;
  trial.scale = estimate.sd;
  trial.reach = with_anchors ? scaling::Reach::gpu_anchors : scaling::Reach::gpu_no_anchors;
  return trial;
}

}  // namespace

std::vector<Situation> backtest_gpus(const std::vector<import::PublishedRow>& rows, const cloud::Catalog& catalog) {
  Situation anchors{"gpu_anchors", "other GPU, at least 3 anchors", {}}, none{"gpu_no_anchors", "other GPU, no anchors", {}};
  std::vector<scaling::GpuCell> cells = cells_of(rows, catalog);
  if (!cells.empty()) {
    const scaling::GpuRegression regression(std::move(cells));
    for (std::size_t i = 0; i < regression.cells().size(); ++i) {
      if (anchors_of(regression.cells(), regression.cells()[i]) >= fewest_anchors)
        anchors.trials.push_back(trial_of(regression, i, true));
      // Without a data sheet and without anchors nothing is known of a GPU: that is refused, not predicted.
      if (regression.cells()[i].traits.known) none.trials.push_back(trial_of(regression, i, false));
    }
  }
  return {std::move(anchors), std::move(none)};
}

}  // namespace gpusizer::backtest
