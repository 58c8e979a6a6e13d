// SPDX-License-Identifier: Apache-2.0
// The covariance of two cells, and conditional expectations by it.
#include "reports/sizing/scaling/gpu_regression.hpp"

#include <algorithm>
#include <cmath>

namespace gpusizer::scaling {
namespace {

// Variances of the parts. Errors on published tables change by less than a tenth when any of them is halved or doubled,
// so that round numbers stand here.
constexpr double all_variance = 25, workload_variance = 9;
constexpr double sheet_variance = 0.3, sheet_by_workload = 0.05, sheet_by_model = 0.02, memory_by_workload = 0.03;
constexpr double gpu_variance = 0.005, gpu_by_precision = 0.005, gpu_by_model = 0.004, architecture_by_model = 0.01;
constexpr double unknown_gpu_variance = 0.5, noise_variance = 0.004;

double cell_covariance(const GpuCell& a, const GpuCell& b) {
  const GpuTraits &s = a.traits, &t = b.traits;
  const double sheet = s.peak * t.peak + s.fp32 * t.fp32 + s.bandwidth * t.bandwidth;
  const bool workload = a.workload == b.workload, model = a.model == b.model, gpu = a.gpu == b.gpu;
  double sum = all_variance + sheet_variance * sheet;
  if (workload) sum += workload_variance + sheet_by_workload * sheet + memory_by_workload * s.memory * t.memory;
  if (model) sum += sheet_by_model * sheet;
  if (model && s.known && t.known && s.architecture == t.architecture) sum += architecture_by_model;
  if (gpu) {
    sum += s.known ? gpu_variance : unknown_gpu_variance;
    if (a.precision == b.precision) sum += gpu_by_precision;
    if (model) sum += gpu_by_model;
  }
  return sum;
}

double log_against(double value, double typical) { return std::log(value / typical); }

SymmetricMatrix covariance_of_cells(const std::vector<GpuCell>& cells) {
  SymmetricMatrix matrix(cells.size());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) matrix.at(i, j) = matrix.at(j, i) = cell_covariance(cells[i], cells[j]);
    matrix.at(i, i) += noise_variance;
  }
  return matrix;
}

}  // namespace

GpuTraits traits_of(const cloud::Gpu* gpu, const std::string& precision) {
  if (!gpu || !gpu->fp32_tflops) return {};
  const bool half = precision == "fp16" || precision == "bf16" || precision == "mixed";
  const auto& tensor = half ? (gpu->fp16_tflops ? gpu->fp16_tflops : gpu->bf16_tflops) : gpu->tf32_tflops;
  return {.peak = log_against(tensor.value_or(*gpu->fp32_tflops), 60), .fp32 = log_against(*gpu->fp32_tflops, 15),
          .bandwidth = log_against(gpu->memory_bandwidth_gbs, 800), .memory = log_against(gpu->memory_gb, 20),
          .architecture = gpu->architecture, .known = true};
}

GpuRegression::GpuRegression(std::vector<GpuCell> cells)
    : cells_(std::move(cells)), inverse_(inverse_of(covariance_of_cells(cells_))), weights_(cells_.size()) {
  for (const GpuCell& cell : cells_) mean_ += cell.log_rate / double(cells_.size());
  for (std::size_t i = 0; i < cells_.size(); ++i)
    for (std::size_t j = 0; j < cells_.size(); ++j) weights_[i] += inverse_.at(i, j) * (cells_[j].log_rate - mean_);
}

// With B the held-out cells: error_B = (K^-1)_BB^-1 (K^-1 y)_B, with the covariance (K^-1)_BB^-1.
CellEstimate GpuRegression::without(std::span<const std::size_t> held_out) const {
  SymmetricMatrix block(held_out.size());
  for (std::size_t i = 0; i < held_out.size(); ++i)
    for (std::size_t j = 0; j < held_out.size(); ++j) block.at(i, j) = inverse_.at(held_out[i], held_out[j]);
  const SymmetricMatrix covariance = inverse_of(std::move(block));
  double error = 0;
  for (std::size_t j = 0; j < held_out.size(); ++j) error += covariance.at(0, j) * weights_[held_out[j]];
  return {cells_[held_out[0]].log_rate - error, std::sqrt(covariance.at(0, 0))};
}

CellEstimate GpuRegression::predict(const GpuCell& cell) const {
  std::vector<double> with(cells_.size());
  double value = mean_, variance = cell_covariance(cell, cell) + noise_variance;
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    with[i] = cell_covariance(cell, cells_[i]);
    value += with[i] * weights_[i];
  }
  for (std::size_t i = 0; i < cells_.size(); ++i)
    for (std::size_t j = 0; j < cells_.size(); ++j) variance -= with[i] * inverse_.at(i, j) * with[j];
  return {value, std::sqrt(std::max(variance, noise_variance))};
}

}  // namespace gpusizer::scaling
