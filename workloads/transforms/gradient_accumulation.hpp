// SPDX-License-Identifier: Apache-2.0
// Gradient accumulation as a transform: one step that processes several micro-batches before its updates.
#pragma once

#include <cstdint>
#include <string>

#include "workloads/program/autodiff.hpp"

namespace gpusizer {

// The name of a micro-batch's own copy of a tensor: "images@2".
std::string micro_batch_name(const std::string& tensor, int64_t micro_batch);

// The step that runs forward and backward `count` times, each on its own micro-batch, and sums the gradients; apply it
// after autodiff, before mixed_precision and the optimizer. With count 1 the step is returned as it is.
//  - Inputs are "<name>@0", "<name>@1", ...: the runner binds them to slices of the batch. Program.batch is count times
//    the micro-batch's.
//  - Parameters, scalars and states are shared; running statistics are updated in order.
//  - The loss and its gradients are those of the mean over all samples, or over all labels that count, however many of
//    them a micro-batch has: see loss_shares.hpp. Outputs that are means are means over all too; `correct` and summed
//    outputs are sums.
//  - Each micro-batch's dropouts draw from streams of their own.
// Throws Error(usage) for a count below 1 and for a program that has updates already.
Differentiated accumulate_gradients(const Differentiated& step, int64_t count);

}  // namespace gpusizer
