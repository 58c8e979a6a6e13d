// SPDX-License-Identifier: Apache-2.0
// What workloads reach on GPUs that nobody measured them on, from a table of workloads measured on several GPUs.
//
// The logarithm of a rate is taken as a sum of independent normal parts: one for the workload; what data sheets say (peak
// rates, bandwidth) with a slope for all, one for the model and one for the workload; memory, since many tables use the
// largest batch that fits; the GPU by itself, for all models, for a precision and for a model; a model on an
// architecture; noise. The expectation of one cell, given others, is a Gaussian process regression (Rasmussen & Williams,
// 2006, chapter 2). Anchors (other workloads on the target GPU) and sources (the workload on other GPUs) all take part
// with the weight that they deserve, and what they leave open comes out with it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cloud/catalog/catalog.hpp"
#include "reports/sizing/scaling/symmetric_matrix.hpp"

namespace gpusizer::scaling {

// Natural logarithms of what a data sheet says, about a typical GPU: 0 is 60 TFLOPS of the precision, 15 TFLOPS of FP32,
// 800 GB/s, 20 GB.
struct GpuTraits {
  double peak = 0, fp32 = 0, bandwidth = 0, memory = 0;
  std::string architecture;
  bool known = false;  // else all are 0, and the GPU's own part is wide
};

// `precision` as reports and tables write it: "fp16", "bf16", "mixed", "fp32", "tf32".
GpuTraits traits_of(const cloud::Gpu* gpu, const std::string& precision);

struct GpuCell {
  std::string workload;  // equal for cells that differ only in the GPU
  std::string model, precision, gpu;
  GpuTraits traits;
  double log_rate = 0;
};

struct CellEstimate {
  double log_rate = 0, sd = 0;  // of one more measurement
};

class GpuRegression {
 public:
  // At least one cell.
  explicit GpuRegression(std::vector<GpuCell> cells);

  // What the cells without those in `held_out` (indices, the first is the one asked for) say about the first.
  CellEstimate without(std::span<const std::size_t> held_out) const;
  // What all cells say about one that is not among them; its log_rate is not looked at.
  CellEstimate predict(const GpuCell& cell) const;

  const std::vector<GpuCell>& cells() const { return cells_; }

 private:
  std::vector<GpuCell> cells_;
  double mean_ = 0;
  SymmetricMatrix inverse_;
  std::vector<double> weights_;  // inverse covariance times (log rates - mean)
};

}  // namespace gpusizer::scaling
