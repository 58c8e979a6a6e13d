// SPDX-License-Identifier: Apache-2.0
// The real trainer: an executor fed by the prefetching loader.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "bench/runner/measuring_loop.hpp"
#include "bench/runner/prepared_case.hpp"
#include "workloads/data/loader.hpp"

namespace gpusizer {

// Mean seconds of each phase over some profiled steps.
struct PhaseSeconds {
  double forward = 0, backward = 0, update = 0;
  std::int64_t steps = 0;
};

class ExecutorTrainer final : public Trainer {
 public:
  // Compiles the programs (moved out of `prepared`, which must outlive this) and writes the starting values.
  ExecutorTrainer(PreparedCase& prepared, StopRequested stop);

  StepOutcome step(double learning_rate) override;
  Evaluation evaluate() override;

  // Trains `steps` more steps with each operation timed apart. For after the measurement: it changes the parameters.
  PhaseSeconds profile(std::int64_t steps);

  // What a checkpoint holds, and putting the data and the random numbers where they were after so many steps.
  Executor& executor() { return *executor_; }
  int program_count() const { return program_count_; }
  std::array<std::int32_t, 2> random_state() const { return random_state_; }  // of the next step
  void go_on_after(std::int64_t steps, std::array<std::int32_t, 2> random_state);

  std::int64_t allocated_bytes() const { return executor_->allocated_bytes(); }

 private:
  const BucketPrograms& programs_of(const Batch& batch) const;
  void count_tokens(const Batch& batch, StepOutcome& outcome) const;
  // What one program takes from outside; ids differ between programs, names do not.
  std::vector<Binding> bind(int program, const Batch& batch, float learning_rate);

  PreparedCase& prepared_;
  StopRequested stop_;
  int program_count_;
  std::unique_ptr<Executor> executor_;
  std::unique_ptr<Loader> train_loader_, test_loader_;
  float learning_rate_ = 0;
  std::array<std::int32_t, 2> random_state_{};  // seed, step
};

}  // namespace gpusizer
