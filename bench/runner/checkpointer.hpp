// SPDX-License-Identifier: Apache-2.0
// Writes the checkpoints of one case while it is trained, and puts it back where one of them was written: on rank 0 for
// all ranks.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/runner/checkpoint_start.hpp"
#include "bench/runner/executor_trainer.hpp"
#include "reports/record/record.hpp"
#include "workloads/checkpoint/checkpoint.hpp"

namespace gpusizer {

class Checkpointer {
 public:
  // For a case with a folder for checkpoints; `trainer` and `clock` must outlive this.
  Checkpointer(const PreparedCase& prepared, const std::string& case_id, ExecutorTrainer& trainer, Clock& clock);

  // Gives all ranks and `result` the state of a checkpoint: the next step is the one that followed it. Nothing: they
  // begin anew. Throws Error(input).
  void go_on(const std::optional<CheckpointStart>& start, LoopResult& result);

  // Writes one where it is due: after every so many steps. True when that took time that belongs to no step.
  // A disk that cannot take it is no reason to stop: what is there stays, and the record will say it.
  bool after_step(const LoopResult& result);
  // Writes the last one, unless it is there already. Not for a loss that was not finite.
  void at_end(const LoopResult& result);

  void fill(record::Case& record) const;
  std::int64_t resumed_steps() const { return resumed_at_.empty() ? 0 : static_cast<std::int64_t>(resumed_at_.back()); }

 private:
  void save(const LoopResult& result);
  void write(const LoopResult& result, TensorStore& tensors);

  std::string case_id_;
  std::map<std::string, std::string> config_;
  std::uint64_t seed_;
  std::int64_t every_, steps_per_epoch_;
  CheckpointFolder folder_;
  ExecutorTrainer& trainer_;
  Clock& clock_;
  std::int64_t saved_step_ = 0, bytes_ = 0;
  std::vector<double> seconds_, resumed_at_;  // of each checkpoint; finished steps of each that was gone on from
  std::string passed_over_, problem_;
  std::int64_t problems_ = 0;
};

// The same moments on all other ranks, which give and take what they hold.
class FollowingCheckpointer {
 public:
  FollowingCheckpointer(const PreparedCase& prepared, ExecutorTrainer& trainer);
  void go_on(LoopResult& result);
  bool after_step(const LoopResult& result);
  void at_end(const LoopResult& result);

 private:
  void save(const LoopResult& result);

  std::int64_t every_;
  ExecutorTrainer& trainer_;
};

}  // namespace gpusizer
