// SPDX-License-Identifier: Apache-2.0
// Opens a case's data, and makes the model's options fit it.
#pragma once

#include "bench/runner/prepared_case.hpp"

namespace gpusizer {

// Needs config and model of the case; fills its data and the model's options. Throws Error(usage) for data that the
// model cannot learn from, input or environment for data that is missing or damaged.
void open_case_data(PreparedCase& prepared);

// The model's options for one bucket of the data: its length and the masked positions that its samples have room for.
ModelOptions bucket_options(const PreparedCase& prepared, std::int64_t bucket);

}  // namespace gpusizer
