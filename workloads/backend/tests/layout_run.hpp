// SPDX-License-Identifier: Apache-2.0
// Trains small models under a layout over ranks, so that what comes out can be compared with one rank's.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "workloads/backend/tests/training_run.hpp"
#include "workloads/program/optimizer.hpp"
#include "workloads/transforms/mixed_precision.hpp"
#include "workloads/transforms/pipeline.hpp"

namespace gpusizer {

// How a step is spread: world rank = (replica * stages + stage) * slices + slice.
struct Layout {
  std::string name = "one_rank";
  std::vector<int64_t> samples{8};  // of each replica
  int32_t stages = 1, slices = 1;
  int64_t micro_batches = 1;
  PipelineSchedule schedule = PipelineSchedule::one_forward_one_backward;
  bool sharded = false, recompute = false, sync_batch_norm = false;
  int64_t norm_group = 0;
  int64_t bucket_bytes = 2048;  // small ones, so that there are several
  OptimizerOptions optimizer{.momentum = 0.9, .weight_decay = 0};
  Precision precision = Precision::fp32;

  int32_t ranks() const { return static_cast<int32_t>(samples.size()) * stages * slices; }
  friend void PrintTo(const Layout& layout, std::ostream* out) { *out << layout.name; }
};

// "bert-mini", "temporal", "lstm" (two layers each) and "resnet8", small and without dropout: the training step of each
// rank of the layout. Fails the running test where check_schedule() finds a fault.
std::vector<Program> rank_programs(const std::string& model, const Layout& layout);

struct LayoutRun {
  std::vector<double> losses;  // by step; the same on every rank, or the test fails
  Values parameters;           // whole ones, put together from the ranks'; copies must be equal bit for bit
};

// Every sample's values depend on its place in the whole batch, the step and the input alone. About half of the masked
// labels count, fewer in the first samples.
LayoutRun train_layout(const std::string& model, const Layout& layout, const std::string& backend, int steps,
                       float learning_rate);

}  // namespace gpusizer
