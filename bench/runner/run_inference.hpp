// SPDX-License-Identifier: Apache-2.0
// An inference case: weights, then each form of the model is evaluated and served.
#pragma once

#include "bench/runner/case_runner.hpp"

namespace gpusizer {

// Needs what prepare_case() fills for mode "infer". Fills training (where it trains first), inference, metrics, flags
// and status of the record. Throws as a training case does.
void run_inference(record::Case& record, PreparedCase& prepared, const CaseContext& context);

}  // namespace gpusizer
