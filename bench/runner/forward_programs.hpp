// SPDX-License-Identifier: Apache-2.0
// The forward programs that a case's data asks for, and what is made of them before they are served.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "bench/runner/prepared_case.hpp"
#include "workloads/transforms/tensor_values.hpp"

namespace gpusizer {

// Of one bucket of the data: for a request; and for the test set, whose batches are those of the training, since one
// sample at a time would take long: whole ones (unless requests are as large) and what is left over.
struct BucketForward {
  std::optional<Program> request, whole, rest;
};

using ForwardPrograms = std::vector<BucketForward>;  // by bucket

// With the model's loss on top, which tells how well it answers and costs next to nothing.
ForwardPrograms forward_programs(const PreparedCase& prepared);

// Samples in a batch of the test set.
std::int64_t evaluation_batch(const PreparedCase& prepared);

// Each of them changed.
ForwardPrograms each_program(const ForwardPrograms& programs, const std::function<Program(const Program&)>& change);

// One of them: all have the same weights.
const Program& any_program(const ForwardPrograms& programs);

}  // namespace gpusizer
