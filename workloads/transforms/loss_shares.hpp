// SPDX-License-Identifier: Apache-2.0
// Weighs the losses of a part of a batch, so that sums over all parts are means over the whole batch.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/program/program.hpp"

namespace gpusizer {

// Which share of the whole one program's losses have. A loss over the samples of the batch has the constant share; one
// that leaves out negative labels has the number of labels that count, over that number in all micro-batches of the
// program (losses of one layer belong together) and all `ranks`.
struct LossShare {
  double batch = 1;                // this program's samples / those of all ranks; 0: a rank that only keeps step
  int32_t micro_batches = 1;       // how many equal ones the program has: a loss of one is so much smaller again
  int32_t rank = 0;                // whose program this is
  std::vector<int32_t> ranks{};    // world ranks over which labels are counted, ascending; empty or one: this one alone
};

// The program whose losses, mean outputs and (of a differentiated program) the gradients that flow into its losses are
// multiplied by their share. Ids of tensors stay; Program.loss and outputs name the weighted values. Sums and counts
// (Program.correct, summed outputs) stay what they are. May be applied again: first over micro-batches, then over ranks
// the shares are those of the product, and labels are counted over both.
// Throws Error(usage) for an output that is a mean over a count of its own but no loss.
Program weigh_losses(Program program, const LossShare& share);

}  // namespace gpusizer
