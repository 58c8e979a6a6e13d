// SPDX-License-Identifier: Apache-2.0
// Labels, indices and lengths are checked on the host when they are bound: a kernel cannot say what is wrong with them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/program/program.hpp"

namespace gpusizer::cuda {

// What one operation wants of the whole numbers of one input.
struct InputCheck {
  enum class Meaning : uint8_t { label, index, length } meaning;
  TensorId input;
  int64_t first, end;      // values from `first` to `end` - 1 are right
  bool ignores_negative;   // labels: a negative one is no sample
  // Indices inside groups of rows: that of place i may only be below source_rows - i / group_indices * group_rows.
  int64_t group_indices = 1, group_rows = 0, source_rows = 0;
  std::string layer;
};

std::vector<InputCheck> input_checks(const Program& program);

// Throws Error(input) for the first value that cannot be, naming it, its place and the layer.
void check_values(const InputCheck& check, const int32_t* values, int64_t count);

}  // namespace gpusizer::cuda
