// SPDX-License-Identifier: Apache-2.0
// From served requests and evaluations to the record.
#pragma once

#include <optional>

#include "bench/runner/inference_forms.hpp"
#include "bench/serving/serving_loop.hpp"
#include "reports/record/record.hpp"

namespace gpusizer {

struct ServedForm {
  InferenceForm form;
  ServingResult result;
  std::optional<Evaluation> evaluation;
  std::int64_t weight_bytes = 0, planned_bytes = 0;
};

// What all forms have in common.
void begin_inference(record::Case& record, const PreparedCase& prepared);

// One form's figures, its metrics ("inference/int8/p99_seconds") and what is doubtful about them.
void add_inference(record::Case& record, const PreparedCase& prepared, const ServingPlan& plan,
                   const ServedForm& served);

}  // namespace gpusizer
