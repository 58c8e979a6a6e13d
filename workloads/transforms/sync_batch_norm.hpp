// SPDX-License-Identifier: Apache-2.0
// Batch norms over several ranks' samples, or over groups of one rank's.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/program/program.hpp"

namespace gpusizer {

// Every batch norm of a training program (forward, before autodiff) takes its statistics over the samples of all of
// `ranks` (numbered through the whole world, ascending; `rank` is one of them), as one rank does with the whole batch:
// each computes mean and squared deviations of its own samples, an all_gather exchanges them, and everybody puts them
// together in the order of the ranks (Chan, Golub and LeVeque, 1983). The ranks' batches may differ. In the backward
// one all_reduce sums two numbers for each channel; gradients of scale and shift are those of the rank's own samples,
// to be summed with the other parameters'. One rank gets the program as it is. Throws Error(usage) for a program
// without such a batch norm, one that is differentiated already, and one with groups.
Program sync_batch_norm(const Program& forward, int32_t rank, const std::vector<int32_t>& ranks);

// Every batch norm of a training program (forward, before autodiff) normalises `samples` at a time: what each of
// several ranks with that batch does with its own, on one rank. Throws Error(usage) for a program without such a batch
// norm and where `samples` does not divide its batch.
Program set_norm_group(const Program& forward, int64_t samples);

// Whether the program has a batch norm that takes statistics of the batch.
bool has_batch_statistics(const Program& program);

}  // namespace gpusizer
