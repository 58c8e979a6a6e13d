// SPDX-License-Identifier: Apache-2.0
// Rows of tables -> cases -> simulated throughput.
#include "bench/simulation/simulated_backtest.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <map>

#include "bench/simulation/simulated_case.hpp"
#include "reports/import/gpu_names.hpp"
#include "reports/sizing/scaling/quantile.hpp"

namespace gpusizer {
namespace {

bool has(const std::string& text, std::string_view word) { return text.find(word) != std::string::npos; }

std::int64_t sequence_of(const std::string& dataset) {
  const auto at = dataset.find("seq ");
  return at == std::string::npos ? 0 : std::strtoll(dataset.c_str() + at + 4, nullptr, 10);
}

struct Simulated {
  const import::PublishedRow* row = nullptr;
  std::string gpu, family;
  double log_rate = 0;  // simulated
};

// Precisions as libraries have them by default: on Ampere and later, FP32 is TF32 in convolutions and products.
std::string effective_precision(const import::PublishedRow& row, const cloud::Gpu& gpu) {
  if (row.precision == "fp32" && gpu.tf32_tflops && !has(row.configuration, "TF32 off")) return "tf32";
  return row.precision == "mixed" ? "fp16" : row.precision;
}

std::vector<Simulated> simulate_rows(const std::vector<import::PublishedRow>& rows, const cloud::Catalog& catalog) {
  std::map<std::string, double> known;
  std::vector<Simulated> result;
  for (const import::PublishedRow& row : rows) {
    const cloud::Gpu* gpu = import::gpu_named(catalog, row.gpu, row.gpu_memory);
    auto config = row.gpus == 1 && gpu ? case_of(row) : std::nullopt;
    if (!config) continue;
    config->precision = effective_precision(row, *gpu);
    const std::string key = fmt::format("{}|{}|{}|{}|{}|{}", config->model, *config->batch, config->options.sequence,
                                        config->options.head, config->precision, gpu->name);
    if (!known.contains(key)) known[key] = std::log(simulate_case(*config, *gpu, catalog, 1).samples_per_second());
    result.push_back({&row, gpu->name, fmt::format("{}|{}", config->model, config->precision == "fp16" ? "half" : "single"), known[key]});
  }
  return result;
}

backtest::Trial trial_of(const Simulated& one, double log_correction) {
  backtest::Trial trial;
  trial.source = trial.label = one.gpu;
  trial.series = fmt::format("{}|{}|{}", one.row->repository, one.family, one.row->batch);
  trial.predicted = std::exp(one.log_rate + log_correction);
  trial.actual = one.row->throughput;
  trial.reach = scaling::Reach::gpu_no_anchors;
  return trial;
}

double correction_from_others(const std::vector<Simulated>& all, const Simulated& asked) {
  std::vector<double> same_source, any;
  for (const Simulated& other : all) {
    if (other.family != asked.family || other.gpu == asked.gpu) continue;
    const double ratio = std::log(other.row->throughput) - other.log_rate;
    any.push_back(ratio);
    if (other.row->repository == asked.row->repository) same_source.push_back(ratio);
  }
  if (!same_source.empty()) return scaling::median(same_source);
  return any.empty() ? 0 : scaling::median(any);
}

}  // namespace

std::optional<CaseConfig> case_of(const import::PublishedRow& row) {
  CaseConfig config;
  const double batch = std::strtod(row.batch.c_str(), nullptr);
  if (!(batch >= 1) || batch > 65536 || (row.precision != "fp32" && row.precision != "tf32" && row.precision != "fp16")) return {};
  config.batch = static_cast<std::int64_t>(batch);
  if (row.model == "BERT-Base" && has(row.notes, "BERT Large")) return {};  // its table says so, its rate as well
  if (row.unit == "images/s" && row.model.starts_with("ResNet-50") && has(row.dataset, "ImageNet")) config.model = "resnet50";
  else if (row.unit == "images/s" && row.model == "AlexNet") config.model = "alexnet";
  else if (row.model == "BERT-Base") config.model = "bert-base";
  else if (row.model == "BERT-Large") config.model = "bert-large";
  else return {};
  if (config.model.starts_with("bert")) {
    config.options.sequence = sequence_of(row.dataset);
    if (config.options.sequence < 1 || config.options.sequence > 512) return {};
    if (!has(row.dataset, "pretrain")) config.options.head = "classification";
    else config.options.predictions = config.options.sequence <= 128 ? 20 : 80;
  }
  return config;
}

std::vector<backtest::Situation> backtest_simulated(const std::vector<import::PublishedRow>& rows, const cloud::Catalog& catalog) {
  const auto all = simulate_rows(rows, catalog);
  backtest::Situation alone{"gpu_simulated", "simulated device alone", {}},
      calibrated{"gpu_simulated_calibrated", "simulated, calibrated on other GPUs", {}};
  for (const Simulated& one : all) {
    alone.trials.push_back(trial_of(one, 0));
    calibrated.trials.push_back(trial_of(one, correction_from_others(all, one)));
  }
  return {std::move(alone), std::move(calibrated)};
}

}  // namespace gpusizer
