// SPDX-License-Identifier: Apache-2.0
// A target without a device: every tensor in its plain size, every fusion. For tests, and to look at a program.
#pragma once

#include "workloads/lowering/lowered_program.hpp"

namespace gpusizer {

// Tensors take their elements' bytes. Kept for the backward: 4 bytes for each element of a ReLU, dropout or max-pool
// result and of the logits, 8 for each channel of a batch norm (and 1 for each element where a ReLU is fused to it). No workspaces.
Target plain_target(bool early_updates = true);
// The same without any fusion.
Target plain_unfused_target();

}  // namespace gpusizer
