// SPDX-License-Identifier: Apache-2.0
// Runs the programs of several ranks together, each on a thread, for the tests of what ranks do together.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "workloads/backend/backend.hpp"
#include "workloads/program/program.hpp"

namespace gpusizer {

struct RankProgram {
  Program program;
  int64_t first_sample = 0;  // of the whole batch, of which it takes Program.batch
};

struct JoinedRun {
  std::vector<std::vector<StepResult>> results;                  // by rank, then step
  std::vector<std::map<std::string, std::vector<float>>> after;  // by rank: persistent tensors after the last step
};

struct JoinedOptions {
  int steps = 3;
  float learning_rate = 0.1f;
  std::string backend = "reference";
  std::vector<float> stop_votes{};  // by rank; none: nobody wants to stop
};

// Inputs are made up, sample by sample: parts of a batch see what the whole batch sees. Integers are 0 to 2; of inputs
// whose name begins with "masked" many are negative, and few in the first samples.
JoinedRun run_joined(const std::vector<RankProgram>& ranks, const JoinedOptions& options = {});

// x [batch, 6] -> linear 5, ReLU -> linear 3 with "masked_labels" (negative ones ignored) and linear 3 with "labels";
// the loss is the sum of both. Outputs "masked_loss", "masked_accuracy", "plain_loss".
Program two_loss_net(int64_t batch);
// x [batch, 6] -> linear 5, ReLU, linear 2 with targets [batch, 2]; the loss is the squared error, the output "mae".
Program number_net(int64_t batch);

}  // namespace gpusizer
