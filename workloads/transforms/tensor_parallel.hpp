// SPDX-License-Identifier: Apache-2.0
// Tensor parallelism as a transform: the heads of attention, the width of feed-forward layers and the vocabulary shared
// out among the ranks of a group (Shoeybi et al., "Megatron-LM", 2019).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/program/autodiff.hpp"
#include "workloads/program/program.hpp"

namespace gpusizer {

// The ranks that share one model's layers, numbered through the whole world and ascending, and whose program it is.
// Their places in the list are the slices: slice 0 is ranks[0]'s.
struct SliceGroup {
  int32_t rank = 0;
  std::vector<int32_t> ranks{0};

  int64_t count() const { return static_cast<int64_t>(ranks.size()); }
  int64_t index() const;  // of the rank's slice
};

// The forward program (of training or evaluation, before autodiff) of one slice. Found by pattern, whatever it is
// named:
//  - linear -> attention -> linear: the first layer gives this slice's heads only, the second reads only these, and one
//    all_reduce sums what the slices made of them. linear -> gelu -> linear: the same with the columns between them.
//  - The table of words (the parameter with the most rows that is read by given indices) where the slices divide its
//    rows: a slice gathers what it has, and an all_reduce puts the rows together. Where it is the last layer too, each
//    slice has the logits of its own words, and the loss exchanges three or four numbers for each row instead of them.
//    A vocabulary that cannot be divided stays whole on every slice.
//  - All else is computed on every slice alike.
// Split parameters keep their names, and Tensor.part says what they are of the whole; whole ones are on every slice,
// and get the same gradient there, but for the bias of a second layer, which is added once: it is slice 0's alone.
// Backward needs one all_reduce for each `fork` in front of a first layer, and nothing else. Dropout, that of attention
// included, drops what it drops on one rank. A group of one rank gets the program as it is. Throws Error(usage) with
// the reason for a model without attention, for heads or widths that the slices do not divide, and for a program that
// is differentiated already.
Program tensor_parallel(const Program& forward, const SliceGroup& group);

// The same program where readers of a `fork` read what it reads: its work is done once the program is differentiated.
Differentiated remove_forks(Differentiated step);
Program remove_forks(Program program);

// Whether this slice counts a parameter (or its gradient) where something is summed over the slices, such as the norm
// of all gradients: split ones everywhere, whole ones on slice 0.
bool counts_on_slice(const Tensor& parameter, int64_t slice);

}  // namespace gpusizer
