// SPDX-License-Identifier: Apache-2.0
// A small net for the tests of transforms, and running its training steps.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "workloads/backend/backend.hpp"
#include "workloads/program/autodiff.hpp"

namespace gpusizer {

// x [batch, 6] -> linear 5, ReLU, linear 3; "labels" i32 [batch].
Program small_net(int64_t batch);
// The same with dropout and a norm of rows between.
Program rich_net(int64_t batch);

// Steps of a training program on one backend; inputs are made up, and split over micro-batches where there are any.
class SmallRun {
 public:
  SmallRun(std::string_view backend, const Program& training, int64_t micro_batches = 1);
  StepResult step(int number, float learning_rate);
  std::vector<float> read(std::string_view tensor) const;
  void write(std::string_view tensor, const std::vector<float>& values) { executor_->write(tensor, values); }

 private:
  const Program& program() const { return executor_->program(0).program; }
  int64_t micro_batches_;
  std::unique_ptr<Executor> executor_;
};

}  // namespace gpusizer
