// SPDX-License-Identifier: Apache-2.0
// Writes the program of one stage of a pipeline.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "workloads/transforms/pipeline_gradients.hpp"
#include "workloads/transforms/pipeline_messages.hpp"

namespace gpusizer {

// What all stages know of the step; it must outlive them.
struct PipelineStep {
  const Differentiated& step;
  std::vector<PipelinePlace> places;                // by operation
  SpreadGradients spread;
  std::vector<std::vector<PipelineJob>> orders;     // by stage
  std::vector<std::vector<StageMessage>> messages;  // by receiving stage
  std::vector<int32_t> ranks;                       // by stage

  int32_t last_stage() const { return static_cast<int32_t>(ranks.size()) - 1; }
};

class StageWriter {
 public:
  StageWriter(const PipelineStep& whole, int32_t stage);
  PipelineStage write();

 private:
  TensorId add_tensor(Tensor tensor);
  TensorId here(TensorId id);
  bool is_here(TensorId id) const { return here_.contains(id); }
  void mark_needed();
  void write_numbers();
  void write_job(size_t number);
  void write_operation(int32_t index);
  void write_receive(const StageMessage& message);
  void send_what_is_ready(const PipelineJob& job);
  void add_up(int32_t sum);
  std::optional<TensorId> addend(TensorId id) const;
  void set_results();
  void set_gradients();
  TensorId exact(TensorId gradient);

  const PipelineStep& whole_;
  const Program& from_;
  int32_t stage_;
  std::vector<int32_t> made_by_;
  Program to_;
  std::map<TensorId, TensorId> here_, sums_;  // what is on this stage; this stage's part of sums over stages
  std::map<PipelineJob, std::vector<int32_t>> operations_, sums_of_job_;
  std::vector<const StageMessage*> outgoing_;  // not sent yet
  std::vector<bool> needed_;                   // by operation that is everywhere
  std::vector<int32_t> place_;                 // by operation: where it is here, or -1
  PipelineStage result_;
};

}  // namespace gpusizer
