// SPDX-License-Identifier: Apache-2.0
// From single cases to one figure per variant and hardware.
#pragma once

#include <span>
#include <vector>

#include "reports/sizing/evidence.hpp"

namespace gpusizer::sizing {

// The figures of one workload (all `evidence` must be of it), sorted by hardware and variant. Evidence with a known
// instance type gives a figure for that type; GPU evidence gives one for its GPU and count as well, with all machines
// that have it together.
std::vector<Figure> combine(std::span<const Evidence> evidence);

}  // namespace gpusizer::sizing
