// SPDX-License-Identifier: Apache-2.0
// Runs a training program on a backend with made-up data, and compares what two backends learned.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "workloads/backend/backend.hpp"

namespace gpusizer {

// Every input of a program, and the scalars of a training step: random values; labels that are classes of the program,
// indices that are rows, lengths up to the whole sequence. Where negative labels are ignored some are (all of an input
// whose name starts with "ignored").
// Depends on (seed, step, tensor name) alone, so that every backend is given the same.
class Feed {
 public:
  Feed(const Program& program, uint64_t seed, int step, float learning_rate);
  StepInputs inputs() const { return bindings_; }

 private:
  std::deque<std::vector<float>> floats_;
  std::deque<std::vector<int32_t>> integers_;
  std::vector<Binding> bindings_;
};

// initialize(), and then values for what starts as a constant: nothing that is under test may be 0 or 1.
void write_test_values(Executor& executor, int program_count, uint64_t seed);

using Values = std::map<std::string, std::vector<float>>;
Values read_persistent(Executor& executor, int program);

struct TrainingRun {
  std::vector<StepResult> results;
  Values after_first;  // with a momentum and no weight decay "<parameter>:momentum" is the first step's gradient
  Values after_last;
};

struct TrainingOptions {
  int steps = 3;
  uint64_t seed = 1;
  float learning_rate = 0.02f;
};

TrainingRun train(const Backend& backend, const Program& training, const TrainingOptions& options);

// Fails the running test for every tensor whose largest difference is more than `tolerance` times the root mean square
// of what was wanted. Gradients that are small beside the others (or nothing but rounding: a bias before a batch norm)
// are measured by a tenth of the largest.
void expect_close(const Values& got, const Values& wanted, double tolerance);
// The same for the root mean square of the differences: for whole models, where among a million ReLUs a few are so close
// to zero that rounding decides about them, and single gradients differ by much.
void expect_close_on_average(const Values& got, const Values& wanted, double tolerance);

// Backends of the table whose ranks can be threads of one process, without and with the reference: "cpu" ...
std::vector<std::string> other_backends();
std::vector<std::string> all_backends();
// Those and the ones that run on one device so far: "cuda", "cuda-emulated".
std::vector<std::string> other_device_backends();
std::vector<std::string> all_device_backends();
// Why a backend cannot run a program on its first device, as lowering says it; "" where it can.
std::string refusal_of(const Backend& backend, const Program& program);
// A backend's name as part of a test's: letters, digits and _.
std::string test_name(std::string backend);

}  // namespace gpusizer
