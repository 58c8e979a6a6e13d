// SPDX-License-Identifier: Apache-2.0
// Tables and reports -> rates of one workload.
#include "bench/simulation/known_rates.hpp"

#include <fmt/format.h>

#include "bench/simulation/simulated_backtest.hpp"
#include "reports/import/gpu_names.hpp"
#include "reports/record/report_file.hpp"
#include "reports/sizing/usable.hpp"

namespace gpusizer {
namespace {

bool same_or_open(const auto& one, const auto& other) {
  return one == std::decay_t<decltype(one)>{} || other == std::decay_t<decltype(other)>{} || one == other;
}

bool same_workload(const CaseConfig& one, const CaseConfig& other) {
  return one.model == other.model && same_or_open(one.options.sequence, other.options.sequence) &&
         same_or_open(one.options.head, other.options.head) && same_or_open(one.options.image_size, other.options.image_size);
}

std::vector<KnownRate> rates_of(const record::Report& report, const std::string& path, const CaseConfig& config,
                                const cloud::Catalog& catalog, std::vector<std::string>& notes) {
  std::vector<KnownRate> rates;
  for (const record::Case& one : report.cases) {
    if (one.config.model != config.model) continue;
    const std::string problem = sizing::why_not_usable(report, one);
    const cloud::Gpu* gpu = cloud::find_gpu(catalog, one.config.device);
    if (!problem.empty() || !gpu) {
      notes.push_back(fmt::format("{}: {} was left out: {}", path, one.id, problem.empty() ? "it did not run on a GPU" : problem));
      continue;
    }
    rates.push_back({{gpu->name, one.config.devices, (one.config.devices + 7) / 8, one.config.precision,
                      one.config.batch_per_replica * one.config.replicas / one.config.devices},
                     *one.throughput.value, record::Provenance::measured, path});
  }
  return rates;
}

}  // namespace

std::vector<KnownRate> known_rates(const std::vector<import::PublishedRow>& rows, const CaseConfig& config, const cloud::Catalog& catalog) {
  std::vector<KnownRate> rates;
  for (const import::PublishedRow& row : rows) {
    const auto same = case_of(row);
    const cloud::Gpu* gpu = import::gpu_named(catalog, row.gpu, row.gpu_memory);
    if (same && gpu && same_workload(*same, config))
      rates.push_back({{gpu->name, row.gpus, row.nodes, row.precision, *same->batch}, row.throughput, record::Provenance::published, row.source});
  }
  return rates;
}

std::vector<KnownRate> read_known_rates(const std::string& path, const CaseConfig& config, const cloud::Catalog& catalog,
                                        std::vector<std::string>& notes) {
  if (path.ends_with(".json")) return rates_of(record::read_report(path), path, config, catalog, notes);
  const auto table = import::read_published(import::parse_csv(import::read_text(path), path), path);
  if (!table.held_out.empty()) notes.push_back(fmt::format("{}: {} rows were held out", path, table.held_out.size()));
  return known_rates(table.rows, config, catalog);
}

}  // namespace gpusizer
