// SPDX-License-Identifier: Apache-2.0
// The record's description of what was run, and the facts counted from its program.
#pragma once

#include "bench/runner/prepared_case.hpp"
#include "reports/record/record.hpp"

namespace gpusizer {

// What the configuration alone says.
record::Config requested_config(const CaseConfig& config);

// Adds what became known when the case was prepared: options in full, data set, device, facts, planned memory.
void fill_prepared(record::Case& record, const PreparedCase& prepared);

}  // namespace gpusizer
