// SPDX-License-Identifier: Apache-2.0
// Which operations of a forward program tensor parallelism shares out, and how: found by what reads what.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "workloads/program/program.hpp"

namespace gpusizer {

enum class SliceWork : uint8_t {
  alike,        // the same on every slice
  columns,      // a linear layer that makes this slice's columns only
  heads,        // attention of this slice's heads
  rows,         // a linear layer that reads this slice's columns only: the slices' results are summed
  words,        // rows picked from this slice's part of a table: the slices' results are summed
  word_logits,  // a linear layer that makes the logits of this slice's words
  word_loss,    // their loss, for which the slices exchange what each row's logits say
};

struct SlicePattern {
  std::vector<SliceWork> work;  // by operation
  std::vector<int64_t> blocks;  // by operation: of columns, how many blocks are each shared out (query, key, value: 3)
  std::optional<TensorId> words;  // the table that is shared out by rows
};

// Throws Error(usage) with the reason where the program has no attention, or `slices` cannot share its heads or widths.
SlicePattern slice_pattern(const Program& forward, int64_t slices);

}  // namespace gpusizer
