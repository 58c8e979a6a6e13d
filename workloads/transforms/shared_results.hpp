// SPDX-License-Identifier: Apache-2.0
// Lets all ranks know a step's loss, its other results, and how many of them want to stop.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "workloads/program/program.hpp"

namespace gpusizer {

// What a step tells people, whichever ranks know it: taken from the step before it is split into stages. Each number
// has a place in what the ranks exchange; results that are the same tensor have the same place. -1: there is none.
struct ResultNames {
  struct Output {
    std::string name;
    int32_t value = -1, count = -1;  // without a count of its own it is over the batch
    bool summed = false;
  };
  int32_t loss = -1, correct = -1;
  std::vector<Output> outputs{};
};
ResultNames result_names(const Program& whole);

struct SharedResultsOptions {
  int32_t rank = 0;
  std::vector<int32_t> ranks{0};  // all world ranks, ascending
  // false: another rank has the same results (slices beyond the first), or they do not count.
  bool contributes = true;
  // The loss and means are multiplied by it first: this rank's share of the samples, where nobody has weighted them yet
  // (local SGD, whose gradients are each rank's own).
  double mean_share = 1;
  // The results of so many steps ago are told, as delayed_sum.hpp has it; zeros in the first steps, whose counts are 0 too.
  std::optional<int32_t> delay{};
};

// The program with one all_reduce directly after its forward pass, of the loss, `correct`, all outputs in `names` and
// their counts: sums over the ranks, to which a rank without a result adds 0. Losses and means must be weighted already
// (loss_shares.hpp). Then every rank has all results, in the same order, followed by those that add_optimizer() made
// (every rank knows these) and by "stop_votes": the sum of the scalar "stop_vote", 0 unless it is bound, over all
// ranks. Outputs without a count of their own get the sum of the contributing ranks' batches as their count. One rank:
// as several.
// Throws Error(usage) where the program has an output that `names` does not know, or more than most_program_outputs.
Program share_results(Program program, const ResultNames& names, const SharedResultsOptions& options);

// The scalar that keeps the loss of a step, counted from 0, until `delay` steps later: for after the last step.
std::string delayed_loss_name(int64_t step, int32_t delay);

}  // namespace gpusizer
