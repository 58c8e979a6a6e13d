// SPDX-License-Identifier: Apache-2.0
// The reference backend: slow, plain, in double; what every other backend is compared with.
#pragma once

#include <memory>

#include "workloads/backend/backend.hpp"

namespace gpusizer {

std::unique_ptr<Backend> make_reference_backend();

// "reference": every operation on its own, updates at the end of the step, 8 bytes for each value.
Target reference_target();
// "reference_fused": the same sizes, all fusion rules and early updates: for comparing the forms of a program.
Target reference_fused_target();

}  // namespace gpusizer
