// SPDX-License-Identifier: Apache-2.0
// Which layers of a model each stage of a pipeline has.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "workloads/program/autodiff.hpp"

namespace gpusizer {

// What one stage has to do and to keep, for the micro-batch that the plan was made from.
struct StageLoad {
  std::string first_layer, last_layer;
  int64_t macs = 0;              // multiply-accumulates, forward and backward
  int64_t parameter_bytes = 0;   // of the parameters that its operations read; tied ones count on each of their stages
  int64_t activation_bytes = 0;  // what its forward operations make for its backward operations
  int64_t sent_bytes = 0;        // of activations that later stages read
};

// Stages are contiguous in the order of the forward operations. The plan goes by the names of layers, so that one made
// from a training step also cuts the steps of other batches and the evaluation program of the same model.
struct PipelinePlan {
  int32_t stages = 1;
  std::map<std::string, int32_t, std::less<>> stage_of_layer{};
  std::vector<StageLoad> loads{};
};

// How many pieces a pipeline can cut the model into at most: the blocks (encoder blocks, residual blocks, LSTM layers),
// what comes before them, and each layer with parameters behind them up to the first loss.
int32_t most_stages(const Program& program);
// How many blocks the model has: encoder blocks, residual blocks, LSTM layers; 0 where it has none.
int64_t block_count(const Program& program);

// `step`: of one micro-batch, differentiated or not (gradients may be empty: a forward program).
// Balanced: the largest stage is as small as it can be, where a stage weighs its share of the multiply-accumulates and,
// a tenth as much, its share of the memory; among equals the plan that sends least. Throws Error(usage) for fewer than
// one stage and for more than most_stages().
PipelinePlan plan_stages(const Differentiated& step, int32_t stages);
// Given: stage i has blocks[i] blocks (3,3,3,3); what comes before the blocks goes with the first stage, what comes
// after them with the last. Throws Error(usage) where the numbers do not add up to the model's blocks or one is
// below 1.
PipelinePlan plan_stages(const Differentiated& step, const std::vector<int64_t>& blocks);

}  // namespace gpusizer
