// SPDX-License-Identifier: Apache-2.0
// Activation checkpointing: less is kept for the backward pass, and is computed again when it is needed.
#pragma once

#include "workloads/program/autodiff.hpp"

namespace gpusizer {

// Of each block of the model (encoder block, residual block, LSTM layer; without blocks about sqrt(n) stretches of the
// n forward operations) only what later blocks read is kept; the rest is computed a second time right before the
// block's first backward operation (Chen et al., "Training deep nets with sublinear memory cost", 2016). The second
// operations and their results are named "<name>:again" and belong to the backward phase. Numbers stay the same:
// dropouts draw the same mask, running statistics move only once, and what ranks exchanged is kept, not exchanged
// again. Apply it after autodiff, before accumulate_gradients. Throws Error(usage) for a step without gradients.
Differentiated recompute(const Differentiated& step);

}  // namespace gpusizer
