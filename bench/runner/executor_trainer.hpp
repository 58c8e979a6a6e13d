// SPDX-License-Identifier: Apache-2.0
// The real trainer: an executor fed by the prefetching loader, one rank of however many.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "bench/runner/evaluation_sums.hpp"
#include "bench/runner/measuring_loop.hpp"
#include "bench/runner/prepared_case.hpp"
#include "workloads/data/loader.hpp"

namespace gpusizer {

class Communicator;

// Mean seconds of each phase over some profiled steps.
struct PhaseSeconds {
  double forward = 0, backward = 0, update = 0, communicate = 0;
  std::int64_t steps = 0;
  int program = -1;                // of the last of these steps
  std::vector<double> operations;  // mean of each of its operations
};

// What one step of this process cost this rank.
struct RankStep {
  double device_seconds = 0, exposed_seconds = 0;  // the step; of it, waiting for communication
  std::int64_t real_tokens = 0, padded_tokens = 0;  // of this rank's part of the batch
};

class ExecutorTrainer final : public Trainer {
 public:
  // Compiles the rank's programs (moved out of `rank`, one of those of `prepared`; both must outlive this) and writes the
  // starting values. `others` joins the ranks of a case; nullptr: this is the only one.
  ExecutorTrainer(const PreparedCase& prepared, PreparedRank& rank, StopRequested stop, Communicator* others = nullptr);

  StepOutcome step(double learning_rate) override;
  // By all ranks, replicas in turn; all get the result. Running statistics are averaged first.
  Evaluation evaluate() override;
  bool has_followers() const override { return others_ && rank_.place.rank == 0; }
  void announce_end(bool with_evaluation) override { announced_ = with_evaluation ? 1.0F : 2.0F; }
  bool heard_end() const override { return heard_ != 0; }
  // What rank 0 announced with the step before, or, asynchronously, some steps ago: 0 nothing, 1 the end after an evaluation, 2 the end.
  int end_announced() const { return heard_; }
  // Whether a process other than rank 0's got a signal: rank 0 then announces the end.
  bool end_wished() const { return wished_; }

  // After the last step: the losses of asynchronous steps that no step has told.
  void add_late_losses(LoopResult& result);

  // Trains `steps` more steps with each operation timed apart. For after the measurement: it changes the parameters.
  PhaseSeconds profile(std::int64_t steps);

  // Makes equal what replicas keep for themselves: running statistics, in local SGD weights too. By all ranks.
  void average_replicas();
  // Before a checkpoint: all that it holds is then the same on all replicas, in local SGD the optimizer's state too.
  void average_for_checkpoint();

  // What a checkpoint holds, and putting the data and the random numbers where they were after so many steps.
  Executor& executor() { return *executor_; }
  int program_count() const { return program_count_; }
  std::array<std::int32_t, 2> random_state() const;  // of the next step, on the first replica
  void go_on_after(std::int64_t steps, std::array<std::int32_t, 2> random_state);

  const std::vector<RankStep>& rank_steps() const { return rank_steps_; }
  Communicator* others() const { return others_; }
  const PreparedRank& rank() const { return rank_; }
  std::int64_t allocated_bytes() const { return executor_->allocated_bytes(); }

 private:
  const BucketPrograms& programs_of(const Batch& batch) const;
  bool is_tail(const Batch& batch) const;
  void count_tokens(const Batch& batch, RankStep& step) const;
  // What one program takes from outside; ids differ between programs, names do not.
  std::vector<Binding> bind(int program, const Batch& batch, float learning_rate);
  StepResult run(int program, const std::vector<Binding>& bindings);
  void spoil_parameters();
  void end_local_step(std::int64_t number, StepOutcome& outcome);
  void hear(const Program& program, const StepResult& result);
  EvaluationSums evaluate_own_batches();

  const PreparedCase& prepared_;
  const PreparedRank& rank_;
  StopRequested stop_;
  Communicator* others_;
  int program_count_;
  std::unique_ptr<Executor> executor_;
  std::vector<std::vector<const Tensor*>> bound_;  // of each program: what every run binds
  std::unique_ptr<Loader> train_loader_, test_loader_;
  float learning_rate_ = 0, announced_ = 0, vote_ = 0;
  int heard_ = 0;
  bool wished_ = false;
  std::int64_t earlier_steps_ = 0;  // of processes before this one
  std::array<std::int32_t, 2> random_state_{};  // seed, step
  std::vector<RankStep> rank_steps_;            // of this process
};

}  // namespace gpusizer
